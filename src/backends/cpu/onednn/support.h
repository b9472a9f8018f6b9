#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "backends/call.h"

/// Which problems oneDNN solves. It tells only by building a primitive descriptor, which takes 20
/// to 1000 microseconds; a search asks for the same few problems thousands of times.
namespace ollie::backends::cpu {

/// The name of the implementation for the problem that `describe` describes, or a refusal: the
/// library has none, or only its reference implementation, which is a hundred times slower.
/// `describe` is called once in a process per call and parameters. Safe to use from many threads.
OrRefusal<bool> is_supported(std::string_view call, const Attributes& parameters,
                             const std::function<std::string()>& describe);

std::string implementation_of(const auto& descriptor) { return descriptor.impl_info_str(); }
inline std::string implementation_of(const std::string& name) { return name; }

bool has_same_layouts(const CallChoice&, const CallChoice&);

/// The choices that `plan` makes of the candidates and that the library supports, at most `most`
/// and the first for its layouts; the first reason if there are none. `describe` builds the
/// primitive descriptor of given parameters or names the implementation.
template <typename Candidate, typename Plan, typename Describe>
OrRefusal<std::vector<CallChoice>> supported_choices(std::string_view call,
                                                     const std::vector<Candidate>& candidates,
                                                     const Plan& plan, const Describe& describe,
                                                     size_t most = 16) {
    std::vector<CallChoice> choices;
    std::string reason;
    auto refuse_for = [&](const std::string& why) {
        if (reason.empty()) reason = why;
    };
    for (const Candidate& candidate : candidates) {
        if (choices.size() == most) break;
        OrRefusal<CallChoice> choice = plan(candidate);
        if (!choice) {
            refuse_for(choice.reason());
            continue;
        }
        bool is_known = std::any_of(choices.begin(), choices.end(), [&](const CallChoice& known) {
            return has_same_layouts(known, *choice);
        });
        if (is_known) continue;
        OrRefusal<bool> supported = is_supported(call, choice->parameters, [&] {
            dnnl::engine engine(dnnl::engine::kind::cpu, 0);
            return implementation_of(describe(choice->parameters, engine));
        });
        if (supported)
            choices.push_back(std::move(*choice));
        else
            refuse_for(supported.reason());
    }
    if (choices.empty()) return Refusal{reason.empty() ? "there is no layout" : reason};
    return choices;
}

}  // namespace ollie::backends::cpu
