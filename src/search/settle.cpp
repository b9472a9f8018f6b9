#include "search/settle.h"

#include <algorithm>

#include "expr/print.h"
#include "expr/simplify.h"

namespace ollie::search {
namespace {

using namespace expr;

/// Every eager rule removes or shrinks something; this many in a row mean that one does not.
constexpr int eager_limit = 500;

/// Applies the first site of an eager rule that does not refuse.
std::optional<Expr> eager_step(const Expr& expr, const Options& options,
                               std::vector<program::TrailStep>& trail, Report& report) {
    for (const derive::Rule* rule : rules_of(options)) {
        if (rule->depth_cost != 0) continue;
        for (const derive::Site& site : rule->sites(expr))
            if (auto result = step(*rule, expr, site, trail, report)) return *result;
    }
    return std::nullopt;
}

}  // namespace

bool is_empty(const Expr& expr) {
    return std::all_of(expr.outputs.begin(), expr.outputs.end(),
                       [](const Tensor* output) { return element_count(output->shape()) == 0; });
}

std::vector<const derive::Rule*> rules_of(const Options& options) {
    std::vector<const derive::Rule*> rules = derive::catalogue();
    rules.insert(rules.end(), options.extra_rules.begin(), options.extra_rules.end());
    std::erase_if(rules, [&](const derive::Rule* rule) {
        return options.disabled_rules.contains(rule->name);
    });
    return rules;
}

Expr normalized(const Expr& expr) { return normalize(expr); }

OrRefusal<Expr> step(const derive::Rule& rule, const Expr& expr, const derive::Site& site,
                     std::vector<program::TrailStep>& trail, Report& report) {
    auto result = rule.apply(expr, site);
    if (!result) {
        ++report.refusals[rule.name];
        return result;
    }
    ++report.rule_hits[rule.name];
    Expr normal = normalize(*result);
    trail.push_back({rule.name, site.place, site.parameters, {}, {}});
    return normal;
}

Expr settle(const Expr& expr, const Options& options, std::vector<program::TrailStep>& trail,
            Report& report) {
    Expr current = normalize(expr);
    if (is_empty(current)) return current;
    for (int i = 0; i < eager_limit; ++i) {
        auto next = eager_step(current, options, trail, report);
        if (!next) return current;
        current = *next;
    }
    return current;
}

}  // namespace ollie::search
