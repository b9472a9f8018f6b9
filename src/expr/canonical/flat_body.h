#pragma once

#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "expr/node.h"

/// A definition laid out flat for hashing: a tree in two arrays, with unit iterators dropped,
/// ranges shifted to 0, associative operators flat and nested reductions of one monoid joined. Part
/// of canonical.cpp; the labels hold everything that does not depend on the order of iterators.
namespace ollie::expr {

/// Canonical form of a tensor that is read: its key and where its axes lie in it.
struct CanonicalTensor {
    Key key;
    /// Canonical position of each axis that has not extent 1, in the order of the axes; repeated
    /// for every automorphism found: each repetition is an equally good numbering.
    std::vector<uint8_t> positions;
    uint32_t numberings = 1;
};
using CanonicalTensors = std::unordered_map<const Tensor*, CanonicalTensor>;

/// From a node to an operand, or to an iterator.
struct FlatEdge {
    int32_t target;  ///< A node, or ~iterator.
    int64_t role;    ///< Position of an ordered operand, coefficient of a term; else 0.
};

struct FlatNode {
    Key label;
    uint32_t first_edge = 0;
    uint32_t edge_count = 0;
    uint32_t first_iterator = 0;  ///< Binders only.
    uint32_t iterator_count = 0;
    uint32_t depth = 0;                       ///< Iterators bound outside.
    const CanonicalTensor* source = nullptr;  ///< Read of a definition.
    const Tensor* tensor = nullptr;           ///< Read.
    bool is_binder() const { return iterator_count > 0; }
};

struct FlatIterator {
    uint64_t initial_color;
    int64_t extent;
};

/// Operands precede users; the root, a binder of the traversal iterators, is last.
struct FlatBody {
    std::vector<FlatNode> nodes;
    std::vector<FlatEdge> edges;
    std::vector<FlatIterator> iterators;
    bool is_output = false;
};

/// Role of an axis of extent 1 whose index decides whether the read is outside.
constexpr int64_t unit_role = -1;

/// Fills a FlatBody; keeps its memory from one definition to the next.
class BodyFlattener {
public:
    /// `tensors` must know everything that the definition reads.
    void flatten(const Tensor* definition, bool is_output, const CanonicalTensors& tensors,
                 FlatBody& body);

private:
    struct Binding {
        const IteratorNode* iterator;
        int32_t local;  ///< -1: extent 1, so always `lo`.
        int64_t lo;
    };

    int32_t node(const Key& label, size_t first_pending);
    void bind(const std::vector<Axis>& axes, uint64_t kind, bool by_position);
    const Binding& binding_of(const IteratorNode*) const;

    int64_t linear(const IndexNode& index, int64_t factor);
    int64_t quotient(const AtomNode& atom, int64_t factor);
    int32_t index(const IndexNode& index, int64_t shift, int64_t sign);
    int32_t predicate(const PredicateNode& predicate);
    int32_t scalar(const ScalarNode& scalar);
    int32_t read(const ScalarNode& scalar);
    int32_t reduction(const ScalarNode& scalar);
    int32_t function(const ScalarNode& scalar);
    int32_t connective(const ScalarNode& scalar, const Key& label);
    void append_operands(const ScalarNode& scalar, const ScalarNode& like);
    bool binds_nothing(const ScalarNode& scalar) const;

    FlatBody* body_ = nullptr;
    const CanonicalTensors* tensors_ = nullptr;
    std::vector<Binding> scope_;
    std::vector<FlatEdge> pending_;
    uint32_t depth_ = 0;
};

}  // namespace ollie::expr
