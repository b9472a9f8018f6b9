#pragma once

#include <map>
#include <set>
#include <string>

#include "expr/node.h"

/// Printing of indices and predicates: the part of print.h that needs to know which iterators are
/// in scope. The text depends on structure and scope only, not on the order of creation of nodes.
namespace ollie::expr {

/// The iterators in scope, outermost first, each with a name of its own.
class NameScope {
public:
    /// Names the axis; unless its own name is taken, by that.
    void push(Iterator);
    void pop(Iterator);
    /// The text of an iterator; of one not in scope, its own name.
    std::string text_of(Iterator) const;
    /// Outermost first; those not in scope come last, in order of creation.
    uint64_t position_of(Iterator) const;

private:
    struct Entry {
        std::string name;
        uint64_t position;
    };
    std::map<Iterator, Entry> entries_;
    std::set<std::string> names_;
};

std::string text_of(Index, const NameScope&);
std::string text_of(Predicate, const NameScope&);

}  // namespace ollie::expr
