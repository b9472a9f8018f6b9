#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "expr/evaluate.h"
#include "expr/evaluation/domain.h"
#include "expr/evaluation/elements.h"

/// The reference: walks the tree of a body for one element at a time, in the order written. All
/// other ways of evaluation agree with it bit for bit.
namespace ollie::expr::evaluation {

template <typename Real>
class Interpreter {
public:
    Interpreter(const Expr&, const Bindings&);
    ~Interpreter();

    struct Value {
        Domain domain = Domain::Real;
        Real real = 0;
        int64_t integer = 0;
        bool is_known = true;  ///< False: some element that it needs is not there yet.

        double number() const {
            return domain == Domain::Real ? static_cast<double>(real)
                                          : static_cast<double>(integer);
        }
    };
    /// The element of the tensor; a definition's elements are kept.
    Value at(const Tensor*, const std::vector<int64_t>& point);

private:
    /// Elements of one tensor; of a definition in pages that are made when needed.
    struct Page;
    struct Store;
    struct Place {
        const Tensor* tensor;
        int64_t offset;
    };

    void add_store(const Tensor*, const Bindings&);
    Store& store_of(const Tensor*);
    std::optional<Value> find(const Tensor*, int64_t offset);
    void keep(const Place&, const Value&);
    Value element(const Place&);
    void enter(const Place&);

    Value value(Scalar);
    Value read(Scalar);
    Value folded(Scalar);
    Value function(Scalar);
    Value reduce(Scalar);
    Value cast(Scalar);
    Value in_domain(Value, Domain) const;
    bool is_true(Predicate) const;
    int64_t index(Index) const;
    int64_t atom(const AtomNode&) const;

    std::unordered_map<const Tensor*, std::unique_ptr<Store>> stores_;
    Domains domains_;
    std::vector<int64_t> position_;  ///< By the iterator's id.
    std::vector<Place> missing_;
    int depth_ = 0;
};

}  // namespace ollie::expr::evaluation
