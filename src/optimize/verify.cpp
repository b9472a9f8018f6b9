#include "optimize/verify.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "expr/evaluate.h"
#include "expr/visit.h"
#include "optimize/deviation.h"
#include "optimize/exact.h"
#include "optimize/input_patterns.h"
#include "optimize/region.h"
#include "runtime/session.h"

namespace ollie::optimize {
namespace {

using namespace expr;

bool changes_nonfinite(const program::Program& program) {
    return std::any_of(program.steps.begin(), program.steps.end(),
                       [](const program::Step& step) { return step.changes_nonfinite; });
}

class Verifier {
public:
    Verifier(const Expr& whole, const program::Program& optimized,
             const program::Program& unoptimized, const Options& options, bool may_spread,
             const VerifyLimits& limits)
        : random_(whole, sampled_regions(whole, limits.random_operations), options.cache_folder),
          program_(optimized),
          optimized_(std::make_shared<const program::Program>(optimized)),
          unoptimized_(std::make_shared<const program::Program>(unoptimized)),
          options_(options),
          limits_(limits),
          may_spread_(may_spread),
          may_change_(changes_nonfinite(optimized) || changes_nonfinite(unoptimized)) {
        auto fewer = sampled_regions(whole, limits.special_operations);
        if (fewer != random_.regions())
            special_.emplace(whole, std::move(fewer), options.cache_folder);
    }

    Verification run() {
        auto began = std::chrono::steady_clock::now();
        for (const InputPattern& pattern : input_patterns()) {
            std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
            if (pattern.finite && elapsed.count() > limits_.special_seconds) continue;
            std::vector<HostArray> inputs = inputs_of(program_, pattern, options_.seed);
            std::vector<HostArray> ours = optimized_.run(inputs);
            std::vector<HostArray> theirs = unoptimized_.run(inputs);
            if (pattern.finite)
                compare_values(pattern.name, inputs, ours, theirs);
            else
                compare_masks(pattern.name, ours, theirs);
            if (options_.accuracy == Accuracy::Strict) compare_bits(pattern.name, ours, theirs);
        }
        return std::move(result_);
    }

private:
    std::string output_name(size_t k) const { return program_.buffers[program_.outputs[k]].name; }

    double bound(double unoptimized) const {
        return options_.accuracy == Accuracy::Fast ? std::max(1e-3, 4 * unoptimized)
                                                   : std::max(1e-4, 4 * unoptimized);
    }

    void compare_values(const std::string& name, const std::vector<HostArray>& inputs,
                        const std::vector<HostArray>& ours, const std::vector<HostArray>& theirs) {
        Bindings bindings;
        for (size_t i = 0; i < inputs.size(); ++i)
            bindings[program_.buffers[program_.inputs[i]].name] = &inputs[i];
        std::vector<Deviation> optimized(ours.size());
        std::vector<Deviation> unoptimized(ours.size());
        std::vector<int64_t> elements(ours.size());
        const bool is_ordinary = name == ordinary_inputs;
        ExactRegions& exact = is_ordinary || !special_ ? random_ : *special_;
        exact.run(bindings, [&](size_t k, const HostArray& values, const Region& region) {
            optimized[k].add(ours[k], values, region);
            unoptimized[k].add(theirs[k], values, region);
            elements[k] += region.size();
        });
        for (size_t k = 0; k < ours.size(); ++k) {
            OutputError error{name,
                              output_name(k),
                              optimized[k].of_scale(),
                              unoptimized[k].of_scale(),
                              elements[k],
                              optimized[k].worst()};
            if (!std::isfinite(error.optimized) || !(error.optimized <= bound(error.unoptimized)))
                result_.failures.push_back(fmt::format(
                    "inputs \"{}\", output {}: error {:.2g} of scale at element {}, allowed {:.2g}",
                    name, error.output, error.optimized, error.worst, bound(error.unoptimized)));
            if (is_ordinary && error.unoptimized > far_from_exact) {
                result_.unoptimized_is_wrong = true;
                result_.failures.push_back(fmt::format(
                    "output {}: on random inputs the unoptimized program itself is {:.2g} of scale "
                    "away from float64",
                    error.output, error.unoptimized));
            }
            result_.errors.push_back(std::move(error));
        }
    }

    void compare_masks(const std::string& name, const std::vector<HostArray>& ours,
                       const std::vector<HostArray>& theirs) {
        for (size_t k = 0; k < ours.size(); ++k) {
            for (int64_t i = 0; i < ours[k].size(); ++i) {
                if (same_class(ours[k].at(i), theirs[k].at(i))) continue;
                bool spread = !std::isfinite(ours[k].at(i)) && std::isfinite(theirs[k].at(i));
                bool kind = !std::isfinite(ours[k].at(i)) && !std::isfinite(theirs[k].at(i));
                if ((spread || kind) && may_spread_) continue;
                if (may_change_) {
                    result_.calls_changed_nonfinite = true;
                    break;
                }
                result_.failures.push_back(fmt::format(
                    "inputs with {}, output {}: {} at element {} where the unoptimized program "
                    "has {}",
                    name, output_name(k), ours[k].at(i), i, theirs[k].at(i)));
                break;
            }
        }
    }

    void compare_bits(const std::string& name, const std::vector<HostArray>& ours,
                      const std::vector<HostArray>& theirs) {
        for (size_t k = 0; k < ours.size(); ++k)
            if (std::memcmp(ours[k].data(), theirs[k].data(),
                            static_cast<size_t>(ours[k].bytes())) != 0)
                result_.failures.push_back(fmt::format(
                    "inputs \"{}\", output {}: not bit-equal to the unoptimized program", name,
                    output_name(k)));
    }

    ExactRegions random_;
    std::optional<ExactRegions> special_;  ///< Where they are other regions.
    const program::Program& program_;
    runtime::Session optimized_;
    runtime::Session unoptimized_;
    const Options& options_;
    VerifyLimits limits_;
    bool may_spread_;
    bool may_change_;
    Verification result_;
};

}  // namespace

double Verification::max_error() const {
    double result = 0;
    for (const OutputError& error : errors) result = std::max(result, error.optimized);
    return result;
}

double Verification::max_unoptimized_error() const {
    double result = 0;
    for (const OutputError& error : errors) result = std::max(result, error.unoptimized);
    return result;
}

Verification verify(const Expr& whole, const program::Program& optimized,
                    const program::Program& unoptimized, const Options& options,
                    bool nonfinite_may_spread, const VerifyLimits& limits) {
    return Verifier(whole, optimized, unoptimized, options, nonfinite_may_spread, limits).run();
}

void check_same_boundary(const Expr& whole, const program::Program& program) {
    auto check = [&](const Tensor* tensor, const std::vector<int>& list) {
        for (int index : list) {
            const program::Buffer& buffer = program.buffers[index];
            if (buffer.name == tensor->name && buffer.shape == tensor->shape() &&
                buffer.type == tensor->type)
                return;
        }
        throw_user_error("the compiled file has no \"{}\" of type {} and shape {}", tensor->name,
                         name_of(tensor->type), to_text(tensor->shape()));
    };
    for (const Tensor* tensor : tensors_of(whole))
        if (tensor->kind == TensorKind::Input) check(tensor, program.inputs);
    for (const Tensor* output : whole.outputs) check(output, program.outputs);
}

}  // namespace ollie::optimize
