#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "match/pattern.h"

/// Patterns, parsed.
///
///   pattern   ::= name [ iterator, ... ] = (monoid [ iterator, ... ])? body
///                 (where iterator (or iterator)? (, ...)*)?  these are no units, not both of them
///   body      ::= select(index == 0 and ..., product, 0) | product
///   product   ::= read * read ...
///   read      ::= name [ index, ... (| outside)? ]
///   index     ::= term + term - ...
///   term      ::= factor * factor ...       at most one factor is no integer and no $parameter
///   factor    ::= integer | $parameter | iterator | (index) | factor div k | factor mod k
namespace ollie::match {

struct PatternIndex;
struct GroupPattern;  ///< group.h

/// number * parameter, of which the latter may be missing (-1).
struct PatternFactor {
    int64_t number = 1;
    int parameter = -1;
};

/// coefficient * iterator, coefficient * (numerator div divisor) or, in predicates only,
/// coefficient * (numerator mod divisor).
struct PatternTerm {
    PatternFactor coefficient;
    int iterator = -1;
    std::shared_ptr<const PatternIndex> numerator;
    PatternFactor divisor;
    bool is_remainder = false;
};

struct PatternIndex {
    std::vector<PatternTerm> terms;
    std::vector<PatternFactor> constant;  ///< A sum.
    std::string text;
};

bool uses(const PatternIndex&, int iterator);

struct PatternRead {
    std::string name;
    std::vector<PatternIndex> indices;
    bool has_outside = false;
    double outside = 0;
};

struct Pattern {
    std::string text;
    std::string result;
    std::vector<std::string> iterators;  ///< Those of the result's axes, then the reduced ones.
    int traversal_count = 0;
    std::vector<uint8_t> occurs;  ///< Per iterator, which reads use it, a set of bits.
    std::vector<std::string> parameters;
    expr::Monoid monoid = expr::Monoid::Sum;
    std::vector<PatternIndex> zeros;  ///< The predicate: all of these are 0.
    std::vector<PatternRead> reads;
    std::vector<std::pair<int, int>> not_units;  ///< Iterators of which one at least is no unit.
    bool is_contraction = false;
    std::shared_ptr<const GroupPattern> group;  ///< If the pattern has several definitions.

    int reduced_count() const { return static_cast<int>(iterators.size()) - traversal_count; }
    bool is_reduced(int iterator) const { return iterator >= traversal_count; }
};

}  // namespace ollie::match
