#include "optimize/verify.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "base/hash.h"
#include "expr/evaluate.h"
#include "expr/identity.h"
#include "expr/visit.h"
#include "optimize/exact.h"
#include "optimize/region.h"
#include "runtime/session.h"

namespace ollie::optimize {
namespace {

using namespace expr;

/// Of scale; no model that is used in float32 has such an error.
constexpr double far_from_exact = 1e-2;
/// What costs more is sampled; about 1e10 of them take a second and two threads.
constexpr double operations_for_random_inputs = 6e10;
constexpr double operations_for_special_inputs = 1.2e10;
/// Special inputs are left out after that long; random ones never are.
constexpr double seconds_for_special_inputs = 30;

double unit(uint64_t seed, int64_t i) {
    return static_cast<double>(mix(seed + static_cast<uint64_t>(i)) >> 11) * 0x1p-53;
}

double normal(uint64_t seed, int64_t i) {
    double u = unit(seed, 2 * i) + 0x1p-60;
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * unit(seed, 2 * i + 1));
}

struct Pattern {
    std::string name;
    std::function<double(uint64_t seed, int64_t i)> value;
    bool finite = true;
};

std::vector<Pattern> patterns() {
    return {
        {std::string(ordinary_inputs), normal},
        {"zeros", [](uint64_t, int64_t) { return 0.0; }},
        {"denormals", [](uint64_t s, int64_t i) { return 1e-40 * normal(s, i); }},
        {"large", [](uint64_t s, int64_t i) { return 1e4 * normal(s, i); }},
        {"constant rows", [](uint64_t s, int64_t i) { return normal(s, i / 16); }},
        {"mean 1e2", [](uint64_t s, int64_t i) { return 1e2 + normal(s, i); }},
        {"mean 4e4", [](uint64_t s, int64_t i) { return 4e4 + normal(s, i); }},
        {"NaN",
         [](uint64_t s, int64_t i) {
             return mix(s ^ static_cast<uint64_t>(i)) % 997 == 0
                        ? std::numeric_limits<double>::quiet_NaN()
                        : normal(s, i);
         },
         false},
        {"infinity",
         [](uint64_t s, int64_t i) {
             uint64_t r = mix(s ^ static_cast<uint64_t>(i));
             if (r % 997 != 0) return normal(s, i);
             return r & 1024 ? HUGE_VAL : -HUGE_VAL;
         },
         false},
    };
}

std::vector<HostArray> inputs_of(const program::Program& program, const Pattern& pattern,
                                 uint64_t seed) {
    std::vector<HostArray> inputs;
    for (int index : program.inputs) {
        const program::Buffer& buffer = program.buffers[index];
        HostArray array(buffer.type, buffer.shape);
        uint64_t own = Hasher().add(seed).add(buffer.name).key().low;
        for (int64_t i = 0; i < array.size(); ++i)
            array.set(i,
                      is_float(buffer.type) ? pattern.value(own, i) : std::floor(4 * unit(own, i)));
        inputs.push_back(std::move(array));
    }
    return inputs;
}

/// What float32 can hold of the value.
double in_range(double value) {
    return std::abs(value) > std::numeric_limits<float>::max() ? std::copysign(HUGE_VAL, value)
                                                               : value;
}

/// max |y - y64| / max |y64| over regions; infinite where just one of two values is not finite.
class Deviation {
public:
    void add(const HostArray& actual, const HostArray& exact, const Region& region) {
        region.for_each(actual.shape(), [&](int64_t inside, int64_t whole) {
            add(in_range(exact.at(inside)), actual.at(whole), whole);
        });
    }

    double of_scale() const {
        if (difference_ == 0) return 0;
        return scale_ > 0 ? difference_ / scale_ : HUGE_VAL;
    }
    int64_t worst() const { return worst_; }

private:
    void add(double want, double have, int64_t element) {
        double apart = std::abs(want - have);
        if (std::isnan(want) && std::isnan(have)) apart = 0;
        if (want == have) apart = 0;
        if (std::isnan(apart)) apart = HUGE_VAL;
        if (std::isfinite(want)) scale_ = std::max(scale_, std::abs(want));
        if (apart <= difference_) return;
        difference_ = apart;
        worst_ = element;
    }

    double scale_ = 0;
    double difference_ = 0;
    int64_t worst_ = 0;
};

/// The original in float64 on some regions of its outputs.
class ExactRegions {
public:
    ExactRegions(const Expr& whole, std::vector<std::vector<Region>> regions,
                 const std::string& cache)
        : regions_(std::move(regions)) {
        for (const std::vector<Region>& regions : regions_)
            evaluations_.emplace_back(restricted(whole, regions), cache);
    }

    const std::vector<std::vector<Region>>& regions() const { return regions_; }

    /// Calls `visit(k, exact, region)` with output k on each of its regions.
    template <class Visit>
    void run(const Bindings& inputs, Visit visit) {
        for (size_t i = 0; i < regions_.size(); ++i) {
            std::vector<HostArray> exact = evaluations_[i].run(inputs);
            for (size_t k = 0; k < exact.size(); ++k) visit(k, exact[k], regions_[i][k]);
        }
    }

private:
    std::vector<std::vector<Region>> regions_;
    std::vector<ExactEvaluation> evaluations_;
};

bool same_class(double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return x == y;
    return true;
}

class Verifier {
public:
    Verifier(const Expr& whole, const program::Program& optimized,
             const program::Program& unoptimized, const Options& options, bool may_spread)
        : random_(whole, sampled_regions(whole, operations_for_random_inputs),
                  options.cache_folder),
          program_(optimized),
          optimized_(std::make_shared<const program::Program>(optimized)),
          unoptimized_(std::make_shared<const program::Program>(unoptimized)),
          options_(options),
          may_spread_(may_spread) {
        auto fewer = sampled_regions(whole, operations_for_special_inputs);
        if (fewer != random_.regions())
            special_.emplace(whole, std::move(fewer), options.cache_folder);
    }

    Verification run() {
        auto began = std::chrono::steady_clock::now();
        for (const Pattern& pattern : patterns()) {
            std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
            if (pattern.finite && elapsed.count() > seconds_for_special_inputs) continue;
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
            if (is_ordinary && error.unoptimized > far_from_exact)
                result_.failures.push_back(fmt::format(
                    "output {}: on random inputs the unoptimized program itself is {:.2g} of scale "
                    "away from float64",
                    error.output, error.unoptimized));
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
    bool may_spread_;
    Verification result_;
};

/// Fragments stay where they are: selections point at them.
void refuse_candidate(Solutions& solutions, const search::Candidate* candidate,
                      const std::string& reason) {
    for (auto& solution : solutions.distinct) {
        bool is_its = false;
        for (auto* list : {&solution->fragments, &solution->unoptimized})
            for (Fragment& fragment : *list)
                if (fragment.candidate == candidate) is_its = fragment.refused = true;
        if (is_its) solution->lost.push_back(candidate->summary() + ": " + reason);
    }
}

/// "skew, tighten"
std::string rules_of(const search::Candidate& candidate) {
    std::string rules;
    for (const program::TrailStep& step : candidate.trail)
        rules += (rules.empty() ? "" : ", ") + step.rule;
    return rules.empty() ? "no rule" : rules;
}

const Solution* solution_of(const Solutions& solutions, const search::Candidate* candidate) {
    for (const auto& solution : solutions.distinct)
        for (const auto* list : {&solution->fragments, &solution->unoptimized})
            for (const Fragment& fragment : *list)
                if (fragment.candidate == candidate) return solution.get();
    CHECK(false, "a selected candidate belongs to no solution");
}

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

std::vector<std::string> prove(const std::vector<const Fragment*>& selected, Solutions& solutions,
                               Proofs& proofs) {
    std::vector<const search::Candidate*> failed;
    for (const Fragment* fragment : selected) {
        const search::Candidate* candidate = fragment->candidate;
        auto [found, is_new] = proofs.try_emplace(candidate);
        if (!is_new) continue;
        const Solution* solution = solution_of(solutions, candidate);
        IdentityReport report = test_identity(solution->problem, candidate->expr);
        found->second.equal = report.verdict == Verdict::Equal;
        found->second.text =
            found->second.equal
                ? fmt::format("equal: {} draws, {} points", report.draws, report.points)
                : (report.verdict == Verdict::Different ? "different: " : "undecided: ") +
                      report.detail;
        if (!found->second.equal) failed.push_back(candidate);
    }
    std::vector<std::string> refusals;
    for (const search::Candidate* candidate : failed) {
        refusals.push_back(fmt::format("derived by {}, refused by the identity test: {}",
                                       rules_of(*candidate), proofs.at(candidate).text));
        refuse_candidate(solutions, candidate, refusals.back());
    }
    return refusals;
}

Verification verify(const Expr& whole, const program::Program& optimized,
                    const program::Program& unoptimized, const Options& options,
                    bool nonfinite_may_spread) {
    return Verifier(whole, optimized, unoptimized, options, nonfinite_may_spread).run();
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
