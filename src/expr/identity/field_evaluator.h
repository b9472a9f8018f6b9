#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "expr/identity/field_code.h"
#include "expr/identity/source_values.h"

/// Evaluates single elements of an expression in the numbers of identity testing, on demand and
/// with a memo per definition. Sums of products run row by row over columns of factors: numerators
/// where all factors are hashed inputs, residues with delayed reduction otherwise.
namespace ollie::expr {

struct Timeout : std::exception {};

/// Elements of one definition that are known in this draw.
class ElementMemo {
public:
    explicit ElementMemo(int64_t size);
    const FieldValue* find(int64_t element) const;
    void insert(int64_t element, const FieldValue& value);
    void clear();

private:
    bool is_dense_;
    std::vector<int32_t> dense_;
    std::unordered_map<int64_t, int32_t> sparse_;
    std::vector<int64_t> known_;
    std::vector<FieldValue> values_;
};

class FieldEvaluator {
public:
    /// `values` holds the weights that take their exact values, by name.
    FieldEvaluator(const Expr&,
                   const std::map<std::string, std::shared_ptr<const HostArray>>& values,
                   FieldArithmetic&, std::chrono::steady_clock::time_point deadline);
    ~FieldEvaluator();

    void start_draw(const Draw&);
    /// Element of an output, by row-major position. Throws Redraw, Timeout, OutsideRead.
    FieldValue at(size_t output, int64_t element);
    /// Terms summed and elements evaluated so far.
    int64_t work() const { return work_; }

private:
    struct Definition {
        const Tensor* tensor;
        BodyCode code;
        ElementMemo memo;
    };
    /// A tensor by number: a source or a definition.
    struct Place {
        const Tensor* tensor;
        int source = -1;
        int definition = -1;
    };
    struct Row;
    struct Column;
    struct Columns;
    struct Total;
    using Slots = std::vector<int64_t>;

    FieldValue element(int tensor, int64_t position);
    FieldValue evaluate(Definition& definition, int64_t position);
    FieldValue node(Definition& definition, int number, int64_t* slots);
    FieldValue where(Definition& definition, const NodeCode& code, int64_t* slots);
    FieldValue read(Definition& definition, const ReadCode& code, int64_t* slots);
    FieldValue reduce(Definition& definition, const ReduceCode& code, int64_t* slots);
    FieldValue fold(Definition& definition, const ReduceCode& code, int64_t* slots);
    FieldValue sum(Definition& definition, const ReduceCode& code, int64_t* slots);
    bool add_small_box(Definition& definition, const ReduceCode& code, int64_t* slots,
                       Columns& columns, Total& total);
    void fill_box(const ReadCode& read, const FactorCode& factor, int64_t base, Column& column);
    void add_row(Definition& definition, const ReduceCode& code, int64_t* slots, Columns& columns,
                 Total& total);
    bool clip(const ReadCode& read, int inner_slot, int64_t* slots, Row& row) const;
    void fill(Definition& definition, const FactorCode& factor, const ReduceCode& code,
              int64_t* slots, int64_t first, int64_t count, const Row& row, Column& column,
              int64_t at);
    void close(const ReduceCode& code, Columns& columns, Total& total);
    void close_numerators(size_t factors, Columns& columns, Total& total);
    void close_values(size_t factors, bool is_integer, Columns& columns, Total& total);
    FieldValue result(const ReduceCode& code, Total& total) const;
    Columns& borrow_columns();
    void count(int64_t work);

    FieldArithmetic& arithmetic_;
    std::chrono::steady_clock::time_point deadline_;
    std::vector<Place> places_;
    std::vector<SourceValues> sources_;
    std::deque<Definition> definitions_;
    std::vector<int> outputs_;
    std::vector<std::unique_ptr<Columns>> columns_;
    size_t columns_in_use_ = 0;
    int64_t work_ = 0;
    int64_t next_look_ = 0;
};

}  // namespace ollie::expr
