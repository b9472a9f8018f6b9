#include "expr/identity.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/identity/field_evaluator.h"
#include "expr/identity/test_points.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

using Values = std::map<std::string, std::shared_ptr<const HostArray>>;

constexpr int most_redraws = 8;
constexpr int64_t fewest_points = 16;

bool are_same(const HostArray& a, const HostArray& b) {
    return &a == &b || (a.type() == b.type() && a.shape() == b.shape() &&
                        std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0);
}

/// Inputs and weights of both sides by name.
struct Sources {
    std::string mismatch;  ///< Why they do not correspond; empty if they do.
    Values all_known;      ///< Every weight whose values one side or both have.
    Values one_sided;      ///< Of these, those that the other side lacks or has otherwise.
};

void add_sources(const Expr& expr, std::map<std::string, const Tensor*>& found) {
    for (const Tensor* tensor : tensors_of(expr))
        if (!tensor->is_definition()) found[tensor->name] = tensor;
}

Sources match_sources(const Expr& original, const Expr& derived) {
    Sources result;
    std::map<std::string, const Tensor*> left, right;
    add_sources(original, left);
    add_sources(derived, right);
    auto values_in = [](const auto& side, const std::string& name) {
        auto found = side.find(name);
        return found == side.end() ? nullptr : found->second->values;
    };
    std::map<std::string, const Tensor*> all = left;
    all.insert(right.begin(), right.end());
    for (auto [name, tensor] : all) {
        auto a = left.find(name), b = right.find(name);
        if (a != left.end() && b != right.end() &&
            (a->second->shape() != b->second->shape() || a->second->type != b->second->type))
            result.mismatch = fmt::format("{} is {} {} in one and {} {} in the other", name,
                                          name_of(a->second->type), to_text(a->second->shape()),
                                          name_of(b->second->type), to_text(b->second->shape()));
        auto of_left = values_in(left, name), of_right = values_in(right, name);
        if (!of_left && !of_right) continue;
        result.all_known[name] = of_left ? of_left : of_right;
        if (!of_left || !of_right) {
            result.one_sided[name] = of_left ? of_left : of_right;
        } else if (!are_same(*of_left, *of_right)) {
            result.mismatch = fmt::format("weight {} has other values", name);
        }
    }
    return result;
}

std::string outputs_mismatch(const Expr& original, const Expr& derived) {
    if (original.outputs.size() != derived.outputs.size())
        return fmt::format("{} outputs against {}", original.outputs.size(),
                           derived.outputs.size());
    for (size_t i = 0; i < original.outputs.size(); ++i) {
        const Tensor* a = original.outputs[i];
        const Tensor* b = derived.outputs[i];
        if (a->shape() != b->shape() || a->type != b->type)
            return fmt::format("output {} is {} {} against {} {}", a->name, name_of(a->type),
                               to_text(a->shape()), name_of(b->type), to_text(b->shape()));
    }
    return {};
}

Draw draw_of(int number, bool is_branching, uint64_t seed) {
    constexpr Pattern patterns[] = {Pattern::Random,     Pattern::Ascending, Pattern::Small,
                                    Pattern::Descending, Pattern::AllEqual,  Pattern::Dominant,
                                    Pattern::Negative,   Pattern::Positive};
    constexpr int count = std::size(patterns);
    Draw draw;
    draw.seed = mix(combine(seed, static_cast<uint64_t>(number)));
    if (!is_branching) return draw;
    draw.pattern = patterns[number % count];
    draw.is_mixed = number >= count;
    return draw;
}

std::vector<int64_t> coordinates(int64_t element, const Shape& shape) {
    std::vector<int64_t> result(shape.size());
    for (size_t d = shape.size(); d-- > 0; element /= shape[d]) result[d] = element % shape[d];
    return result;
}

/// One comparison of two expressions under one choice of exact weights.
class Comparison {
public:
    Comparison(const Expr& original, const Expr& derived, const Values& values,
               const IdentityOptions& options, std::chrono::steady_clock::time_point deadline)
        : original_(original),
          options_(options),
          left_(original, values, arithmetic_, deadline),
          right_(derived, values, arithmetic_, deadline),
          is_exact_(!values.empty()) {
        ExprTraits a = traits_of(original), b = traits_of(derived);
        levels_ = 1 + std::min(2, std::max(a.exp_depth, b.exp_depth));
        is_branching_ = a.is_branching || b.is_branching;
        auto of_left = breakpoints_of(original), of_right = breakpoints_of(derived);
        for (size_t i = 0; i < of_left.size(); ++i)
            breakpoints_.push_back(merge(of_left[i], of_right[i]));
    }

    IdentityReport run() {
        draws_ = is_branching_ ? options_.branching_draws : options_.draws;
        report_.verdict = Verdict::Equal;
        for (int number = 0; number < draws_ && report_.verdict == Verdict::Equal; ++number)
            run_draw(number);
        report_.work = left_.work() + right_.work();
        return report_;
    }

private:
    void run_draw(int number) {
        for (int attempt = 0; attempt < most_redraws; ++attempt) {
            Draw draw = draw_of(number, is_branching_,
                                options_.seed + static_cast<uint64_t>(attempt) * 1000003);
            try {
                compare(draw);
                ++report_.draws;
                return;
            } catch (const Redraw&) {
                continue;
            } catch (const Timeout&) {
                undecided(fmt::format("out of time after {} elements in {} draws", report_.points,
                                      report_.draws));
                return;
            } catch (const OutsideRead& read) {
                report_.verdict = Verdict::Different;
                report_.detail = fmt::format("a read of {} leaves its domain", read.tensor);
                return;
            }
        }
        undecided(fmt::format("{} draws were too close to a boundary", most_redraws));
    }

    void undecided(std::string reason) {
        report_.verdict = Verdict::Undecided;
        report_.detail = std::move(reason);
    }

    void compare(const Draw& draw) {
        arithmetic_.start_draw(draw.seed, levels_);
        left_.start_draw(draw);
        right_.start_draw(draw);
        int64_t share = options_.work / draws_ / static_cast<int64_t>(original_.outputs.size());
        for (size_t output = 0; output < original_.outputs.size(); ++output) {
            Shape shape = original_.outputs[output]->shape();
            bool is_small = element_count(shape) <= options_.points;
            int64_t compared = 0;
            int64_t start = left_.work() + right_.work();
            for (int64_t element : test_points(shape, breakpoints_[output], options_.points,
                                               combine(draw.seed, output))) {
                if (!compare(draw, output, element)) return;
                ++report_.points;
                ++compared;
                bool is_dear = left_.work() + right_.work() - start > share;
                if (is_dear && !is_small && compared >= fewest_points) break;
            }
        }
    }

    bool compare(const Draw& draw, size_t output, int64_t element) {
        FieldValue a = left_.at(output, element);
        FieldValue b = right_.at(output, element);
        if (a.tag == b.tag && (!a.is_finite() || a.p == b.p) && !is_far(a, b)) return true;
        const Tensor* tensor = original_.outputs[output];
        std::string place =
            fmt::format("{}[{}] is {} and {} (draw {}, {})", tensor->name,
                        fmt::join(coordinates(element, tensor->shape()), ", "), text_of(a),
                        text_of(b), report_.draws, name_of(draw.pattern));
        bool is_certain = a.tag != b.tag || is_far(a, b);
        if (!is_certain && is_exact_ && is_within_rounding(a, b)) {
            undecided("equal within the rounding of folded values: " + place);
        } else if (!is_certain && arithmetic_.has_used_oracle()) {
            undecided("equal in float64, but not for arbitrary functions: " + place);
        } else {
            report_.verdict = Verdict::Different;
            report_.detail = place;
        }
        return false;
    }

    /// The companions differ by more than their errors, and for weights by more than folding.
    bool is_far(const FieldValue& a, const FieldValue& b) const {
        if (a.tag != FieldTag::Finite || b.tag != FieldTag::Finite) return false;
        double difference = std::fabs(a.companion - b.companion);
        if (is_exact_ && is_within_rounding(a, b)) return false;
        return difference > 100 * (a.error + b.error) + 1e-290;
    }

    static bool is_within_rounding(const FieldValue& a, const FieldValue& b) {
        if (a.tag != FieldTag::Finite || b.tag != FieldTag::Finite) return false;
        double size = std::max(std::fabs(a.companion), std::fabs(b.companion));
        return std::fabs(a.companion - b.companion) <= 1e-5 * size + a.error + b.error;
    }

    const Expr& original_;
    const IdentityOptions& options_;
    FieldArithmetic arithmetic_;
    FieldEvaluator left_;
    FieldEvaluator right_;
    bool is_exact_;
    int levels_ = 1;
    int draws_ = 0;
    bool is_branching_ = false;
    std::vector<Breakpoints> breakpoints_;
    IdentityReport report_;
};

}  // namespace

IdentityReport test_identity(const Expr& original, const Expr& derived,
                             const IdentityOptions& options) {
    IdentityReport report;
    report.verdict = Verdict::Different;
    report.detail = outputs_mismatch(original, derived);
    if (!report.detail.empty()) return report;
    Sources sources = match_sources(original, derived);
    report.detail = sources.mismatch;
    if (!report.detail.empty()) return report;

    auto deadline = std::chrono::steady_clock::now() +
                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                        std::chrono::duration<double>(options.seconds));
    report = Comparison(original, derived, sources.one_sided, options, deadline).run();
    bool is_worth_values = sources.all_known.size() > sources.one_sided.size();
    if (report.verdict != Verdict::Different || !is_worth_values) return report;
    return Comparison(original, derived, sources.all_known, options, deadline).run();
}

}  // namespace ollie::expr
