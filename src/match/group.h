#pragma once

#include <map>
#include <string>
#include <vector>

#include "match/pattern.h"

/// Patterns of several definitions, of which only the last is visible outside.
namespace ollie::match {

struct Group {
    std::vector<const expr::Tensor*>
        definitions;  ///< Producers first; the last is the visible one.
    /// Iterator of the pattern's visible definition -> axes of the definition that it stands for,
    /// without those of extent 1.
    std::map<std::string, std::vector<int>> axes;
};

/// The parsed text of such a pattern, and what tells its iterators apart.
struct GroupPattern {
    expr::Expr expr;
    /// Per iterator of the visible definition: which tensors have it as an axis and which
    /// reductions run over it, as a set of bits.
    std::map<uint32_t, std::string> iterators;
};

std::shared_ptr<const GroupPattern> parse_group(std::string_view text);

/// `definition` as the visible one of the pattern's definitions.
MatchResult match_group(const expr::Tensor* definition, const Pattern&);

}  // namespace ollie::match
