#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "expr/canonical/flat_body.h"

/// Canonical order of the iterators of one definition. Colours are refined by what each iterator
/// occurs in until nothing splits; a tie within a binder is broken by individualizing each member
/// in turn and keeping the least key (McKay's scheme without its pruning). Part of canonical.cpp.
namespace ollie::expr {

/// Leaves of the search for ties; past it any order is taken and the key may be a duplicate.
constexpr int leaf_cap = 24;

struct CanonicalOrder {
    Key key;
    /// Position per traversal iterator, for every numbering that gives this key.
    std::vector<uint8_t> positions;
    uint32_t numberings = 0;
    int leaves = 0;
    bool is_capped = false;
};

/// Keeps its memory from one definition to the next.
class ColorRefinement {
public:
    CanonicalOrder order(const FlatBody& body);

    /// Colour of each node seen from above and below, under refined colours, given the colour of
    /// the whole definition: equal for what only a choice of names tells apart.
    const std::vector<uint64_t>& contexts(const FlatBody& body, uint64_t root_context);

private:
    using Colors = std::vector<uint64_t>;

    void start(const FlatBody& body);
    void hash_upwards(const Colors& colors);
    void hash_downwards(uint64_t root_context);
    size_t distinct(const Colors& colors);
    void refine(Colors& colors);
    bool find_tie(const Colors& colors, std::vector<uint32_t>& members) const;
    bool are_interchangeable(const std::vector<uint32_t>& members) const;
    void search(Colors colors, CanonicalOrder& best);
    void number(const Colors& colors);
    Key final_key();
    Key read_key(const FlatNode& node) const;
    void keep(const Key& key, CanonicalOrder& best);

    const FlatBody* body_ = nullptr;
    Colors initial_;
    Colors sorted_;
    std::vector<uint64_t> roles_;  ///< Hash per edge.
    std::vector<uint64_t> hashes_;
    std::vector<uint64_t> contexts_;
    std::vector<uint64_t> gathered_;
    std::vector<uint32_t> rank_;    ///< Per iterator, within its binder.
    std::vector<uint32_t> number_;  ///< Per iterator, depth of the binder plus rank.
    std::vector<Key> keys_;
};

}  // namespace ollie::expr
