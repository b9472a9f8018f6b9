#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "base/hash.h"
#include "expr/canonical.h"
#include "refine/passes.h"
#include "refine/substitute.h"

namespace ollie::refine {
namespace {

using program::Buffer;
using program::Program;
using program::Role;
using program::Step;

Key key_of(const HostArray& values) {
    Hasher hasher;
    hasher.add(name_of(values.type())).add(to_text(values.shape()));
    return hasher
        .add(std::string_view(static_cast<const char*>(values.data()),
                              static_cast<size_t>(values.bytes())))
        .key();
}

bool are_equal(const HostArray& x, const HostArray& y) {
    return x.type() == y.type() && x.shape() == y.shape() &&
           (x.bytes() == 0 || std::memcmp(x.data(), y.data(), static_cast<size_t>(x.bytes())) == 0);
}

bool have_same_results(const Program& program, const Step& x, const Step& y) {
    if (x.results.size() != y.results.size()) return false;
    for (size_t i = 0; i < x.results.size(); ++i) {
        const Buffer& one = program.buffers[static_cast<size_t>(x.results[i])];
        const Buffer& other = program.buffers[static_cast<size_t>(y.results[i])];
        bool is_free = other.role == Role::Scratch || one.role == Role::Scratch;
        if (one.type != other.type || one.shape != other.shape || one.layout != other.layout ||
            !is_free || are_read_together(program, x.results[i], y.results[i]))
            return false;
    }
    return true;
}

/// What two steps must share to compute the same, in the order of their results: the last is the
/// position of each output of the meaning among the results.
using Identity =
    std::tuple<int, std::string, Attributes, std::vector<int>, Key, std::vector<size_t>>;

Identity identity_of(const Program& program, const Step& step) {
    std::vector<size_t> positions;
    for (const expr::Tensor* output : step.meaning.outputs) {
        auto found = std::find_if(step.results.begin(), step.results.end(), [&](int result) {
            return program.buffers[static_cast<size_t>(result)].name == output->name;
        });
        positions.push_back(static_cast<size_t>(found - step.results.begin()));
    }
    return {static_cast<int>(step.kind), step.target, step.parameters, step.arguments,
            expr::key(step.meaning),     positions};
}

}  // namespace

bool merge_constants(Program& program) {
    bool changed = false;
    std::map<Key, std::vector<size_t>> known;
    for (size_t i = 0; i < program.buffers.size(); ++i) {
        Buffer& buffer = program.buffers[i];
        if (buffer.role != Role::Constant || !buffer.values) continue;
        std::vector<size_t>& alike = known[key_of(*buffer.values)];
        bool is_merged = false;
        for (size_t j : alike) {
            const Buffer& other = program.buffers[j];
            if (!are_equal(*buffer.values, *other.values)) continue;
            buffer.values = other.values;
            if (buffer.layout != other.layout ||
                are_read_together(program, static_cast<int>(i), static_cast<int>(j)))
                continue;
            substitute(program, static_cast<int>(i), static_cast<int>(j));
            is_merged = changed = true;
            break;
        }
        if (!is_merged) alike.push_back(i);
    }
    return changed;
}

bool merge_steps(Program& program) {
    bool changed = false;
    std::map<Identity, size_t> known;
    for (size_t i = 0; i < program.steps.size();) {
        auto [first, is_new] = known.try_emplace(identity_of(program, program.steps[i]), i);
        const Step& one = program.steps[first->second];
        Step other = program.steps[i];
        if (is_new || !have_same_results(program, one, other)) {
            ++i;
            continue;
        }
        std::vector<int> results = one.results;
        program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(i));
        for (size_t k = 0; k < results.size(); ++k) {
            bool keeps_first =
                program.buffers[static_cast<size_t>(other.results[k])].role == Role::Scratch;
            substitute(program, keeps_first ? other.results[k] : results[k],
                       keeps_first ? results[k] : other.results[k]);
        }
        changed = true;
    }
    return changed;
}

}  // namespace ollie::refine
