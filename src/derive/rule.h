#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "expr/node.h"

/// A rule: one file in derive/rules/. From this object alone come the search's table, `ollie
/// rules`,
/// --disable-rule, docs/rules.md, the golden, identity and fuzz tests, and the hit counts.
namespace ollie::derive {

/// One way to apply a rule: a place and its parameters, as text for the trail and as a function of
/// nothing that yields the new expression or the reason why not.
struct Site {
    const expr::Tensor* definition = nullptr;
    std::string place;            ///< "Y: sum[c, r, s]"
    std::string parameters;       ///< "split {r, s} from {c}"
    std::vector<int64_t> values;  ///< Rule-specific encoding of place and parameters.
};

struct Example {
    std::string before;      ///< Text form of an Expr.
    std::string parameters;  ///< Which site: its `parameters` text; empty: the first.
    std::string after;       ///< Text, or empty for a refusal:
    std::string refusal;     ///< the reason must contain this.
};

struct Rule {
    std::string name;        ///< File name without suffix.
    std::string law;         ///< See "Rules" in docs/architecture.md.
    std::string conditions;  ///< One sentence.
    std::string pays;        ///< Why it is there.
    /// What it does to NaN and inf: "exact" or a sentence.
    std::string nonfinite;
    int depth_cost = 1;  ///< 0: normalization, applied eagerly by search.
    /// All sites at which the rule may be tried, parameters drawn from the expression.
    std::vector<Site> (*sites)(const expr::Expr&);
    OrRefusal<expr::Expr> (*apply)(const expr::Expr&, const Site&);
    std::vector<Example> examples;
};

const std::vector<const Rule*>& catalogue();
/// Null where there is none. `more` are rules besides the catalogue's.
const Rule* find(std::string_view name, const std::vector<const Rule*>& more = {});

}  // namespace ollie::derive
