#pragma once

#include <map>
#include <optional>

#include "expr/node.h"

/// Interval reasoning on indices.
namespace ollie::expr {

/// All integers from lo to hi, both included; empty where lo > hi.
struct Interval {
    int64_t lo;
    int64_t hi;
    auto operator<=>(const Interval&) const = default;
};

/// Ranges of the iterators in scope.
class Ranges {
public:
    Ranges() = default;
    explicit Ranges(const std::vector<Axis>& axes) { add(axes); }
    void add(const std::vector<Axis>& axes);
    void add(Iterator iterator, Interval interval) { map_[iterator] = interval; }
    /// Throws InternalError for an iterator that is not in scope.
    Interval of(Iterator) const;
    bool has(Iterator iterator) const { return map_.contains(iterator); }
    const std::map<Iterator, Interval>& map() const { return map_; }

private:
    std::map<Iterator, Interval> map_;
};

/// A sound enclosure of the values that the index takes; exact for linear indices.
Interval interval_of(Index, const Ranges&);
/// true / false if proved, nothing if neither.
std::optional<bool> decide(Predicate, const Ranges&);
/// Proves that the read at these indices is inside the tensor's domain.
bool is_inside(const Tensor*, const std::vector<Index>&, const Ranges&);

/// Simplification that needs ranges: quotients that vanish or split, minima that one side wins.
Index simplify(Index, const Ranges&);
Predicate simplify(Predicate, const Ranges&);

}  // namespace ollie::expr
