#include "expr/identity/field_evaluator.h"

#include "base/error.h"
#include "expr/identity/sum_of_products.h"
#include "expr/visit.h"

namespace ollie::expr {

ElementMemo::ElementMemo(int64_t size) : is_dense_(size <= int64_t{1} << 22) {
    if (is_dense_) dense_.assign(static_cast<size_t>(size), -1);
}

const FieldValue* ElementMemo::find(int64_t element) const {
    if (is_dense_) return dense_[element] < 0 ? nullptr : &values_[dense_[element]];
    auto found = sparse_.find(element);
    return found == sparse_.end() ? nullptr : &values_[found->second];
}

void ElementMemo::insert(int64_t element, const FieldValue& value) {
    auto slot = static_cast<int32_t>(values_.size());
    if (is_dense_)
        dense_[element] = slot;
    else
        sparse_.emplace(element, slot);
    known_.push_back(element);
    values_.push_back(value);
}

void ElementMemo::clear() {
    if (is_dense_)
        for (int64_t element : known_) dense_[element] = -1;
    sparse_.clear();
    known_.clear();
    values_.clear();
}

FieldEvaluator::FieldEvaluator(
    const Expr& expr, const std::map<std::string, std::shared_ptr<const HostArray>>& values,
    FieldArithmetic& arithmetic, std::chrono::steady_clock::time_point deadline)
    : arithmetic_(arithmetic), deadline_(deadline) {
    std::map<const Tensor*, int> numbers;
    for (const Tensor* tensor : tensors_of(expr)) {
        Place place{tensor};
        if (tensor->is_definition()) {
            place.definition = static_cast<int>(definitions_.size());
            definitions_.push_back(
                {tensor, compile(tensor, numbers), ElementMemo(element_count(tensor->shape()))});
        } else {
            place.source = static_cast<int>(sources_.size());
            auto exact = values.find(tensor->name);
            sources_.emplace_back(tensor, exact == values.end() ? nullptr : exact->second);
        }
        numbers[tensor] = static_cast<int>(places_.size());
        places_.push_back(place);
    }
    for (const Tensor* output : expr.outputs) outputs_.push_back(numbers.at(output));
}

FieldEvaluator::~FieldEvaluator() = default;

void FieldEvaluator::start_draw(const Draw& draw) {
    for (SourceValues& source : sources_) source.start_draw(draw);
    for (Definition& definition : definitions_) definition.memo.clear();
    columns_in_use_ = 0;
}

FieldValue FieldEvaluator::at(size_t output, int64_t element) {
    return this->element(outputs_[output], element);
}

void FieldEvaluator::count(int64_t work) {
    work_ += work;
    if (work_ < next_look_) return;
    next_look_ = work_ + 50000;
    if (std::chrono::steady_clock::now() > deadline_) throw Timeout();
}

FieldValue FieldEvaluator::element(int tensor, int64_t position) {
    const Place& place = places_[tensor];
    if (place.source >= 0) return sources_[place.source].at(position);
    Definition& definition = definitions_[place.definition];
    if (const FieldValue* known = definition.memo.find(position)) return *known;
    FieldValue value = evaluate(definition, position);
    definition.memo.insert(position, value);
    return value;
}

FieldValue FieldEvaluator::evaluate(Definition& definition, int64_t position) {
    count(1);
    const BodyCode& code = definition.code;
    constexpr int few = 24;
    int64_t on_stack[few];
    std::vector<int64_t> on_heap;
    int64_t* slots = on_stack;
    if (code.slots > few) {
        on_heap.resize(static_cast<size_t>(code.slots));
        slots = on_heap.data();
    }
    for (size_t d = code.extents.size(); d-- > 0;) {
        slots[d] = position % code.extents[d] + code.axis_lo[d];
        position /= code.extents[d];
    }
    FieldValue value = node(definition, code.root, slots);
    if (is_float(definition.tensor->type)) return as_finite(value);
    return arithmetic_.cast(value, definition.tensor->type);
}

FieldValue FieldEvaluator::node(Definition& definition, int number, int64_t* slots) {
    const NodeCode& code = definition.code.nodes[number];
    switch (code.kind) {
        case ScalarKind::Constant:
            return code.constant;
        case ScalarKind::Read:
            return read(definition, definition.code.reads[code.read], slots);
        case ScalarKind::Number:
            return FieldValue::of_integer(definition.code.indices[code.index].evaluate(slots));
        case ScalarKind::Add: {
            FieldValue total = node(definition, code.operands[0], slots);
            for (size_t i = 1; i < code.operands.size(); ++i)
                total = arithmetic_.add(total, node(definition, code.operands[i], slots));
            return total;
        }
        case ScalarKind::Mul: {
            FieldValue total = node(definition, code.operands[0], slots);
            for (size_t i = 1; i < code.operands.size(); ++i)
                total = arithmetic_.multiply(total, node(definition, code.operands[i], slots));
            return total;
        }
        case ScalarKind::Function: {
            if (code.function == Function::Where) return where(definition, code, slots);
            constexpr size_t most_operands = 8;
            CHECK(code.operands.size() <= most_operands, "a function of too many operands");
            FieldValue operands[most_operands];
            for (size_t i = 0; i < code.operands.size(); ++i)
                operands[i] = node(definition, code.operands[i], slots);
            return arithmetic_.apply(code.function, {operands, code.operands.size()});
        }
        case ScalarKind::Select: {
            bool holds = definition.code.predicates[code.predicate].evaluate(slots);
            return node(definition, code.operands[holds ? 0 : 1], slots);
        }
        case ScalarKind::Reduce:
            return reduce(definition, definition.code.reductions[code.reduce], slots);
        case ScalarKind::Cast:
            return arithmetic_.cast(node(definition, code.operands[0], slots), code.type);
    }
    CHECK(false);
}

FieldValue FieldEvaluator::where(Definition& definition, const NodeCode& code, int64_t* slots) {
    FieldValue condition = node(definition, code.operands[0], slots);
    bool holds = arithmetic_.cast(condition, ElementType::Bool).integer() != 0;
    return node(definition, code.operands[holds ? 1 : 2], slots);
}

FieldValue FieldEvaluator::read(Definition&, const ReadCode& code, int64_t* slots) {
    int64_t position = 0;
    for (const ReadAxis& axis : code.axes) {
        int64_t at = axis.index.evaluate(slots) - axis.lo;
        if (axis.may_be_outside && (at < 0 || at >= axis.extent)) {
            if (!code.has_outside) throw OutsideRead(places_[code.tensor].tensor->name);
            return code.outside;
        }
        position += at * axis.stride;
    }
    return element(code.tensor, position);
}

FieldValue FieldEvaluator::reduce(Definition& definition, const ReduceCode& code, int64_t* slots) {
    return code.monoid == Monoid::Sum ? sum(definition, code, slots)
                                      : fold(definition, code, slots);
}

namespace {

/// Sets the slots of the axes, but for `fixed`, to their first values; false if a range is empty.
bool start_box(const ReduceCode& code, int fixed, int64_t* slots) {
    for (size_t a = 0; a < code.axes.size(); ++a) {
        if (code.axes[a].lo >= code.axes[a].hi) return false;
        if (static_cast<int>(a) != fixed) slots[code.axes[a].slot] = code.axes[a].lo;
    }
    return true;
}

bool advance_box(const ReduceCode& code, int fixed, int64_t* slots) {
    for (size_t a = code.axes.size(); a-- > 0;) {
        if (static_cast<int>(a) == fixed) continue;
        int64_t& slot = slots[code.axes[a].slot];
        if (++slot < code.axes[a].hi) return true;
        slot = code.axes[a].lo;
    }
    return false;
}

FieldValue identity_of(Monoid monoid) {
    switch (monoid) {
        case Monoid::Prod:
            return FieldValue::of_integer(1);
        case Monoid::Max:
            return FieldValue::of_tag(FieldTag::NegativeInfinity);
        case Monoid::Min:
            return FieldValue::of_tag(FieldTag::PositiveInfinity);
        default:
            return FieldValue::of_integer(0);
    }
}

}  // namespace

FieldValue FieldEvaluator::fold(Definition& definition, const ReduceCode& code, int64_t* slots) {
    FieldValue total = identity_of(code.monoid);
    if (!start_box(code, -1, slots)) return total;
    do {
        count(1);
        FieldValue value = node(definition, code.body, slots);
        switch (code.monoid) {
            case Monoid::Prod:
                total = arithmetic_.multiply(total, value);
                break;
            case Monoid::Max:
                total = arithmetic_.maximum(total, value);
                break;
            case Monoid::Min:
                total = arithmetic_.minimum(total, value);
                break;
            default:
                total = arithmetic_.add(total, value);
        }
    } while (advance_box(code, -1, slots));
    return total;
}

FieldEvaluator::Columns& FieldEvaluator::borrow_columns() {
    if (columns_in_use_ == columns_.size()) columns_.push_back(std::make_unique<Columns>());
    Columns& columns = *columns_[columns_in_use_++];
    columns.length = 0;
    columns.has_invariant.fill(false);
    return columns;
}

FieldValue FieldEvaluator::sum(Definition& definition, const ReduceCode& code, int64_t* slots) {
    if (!start_box(code, code.inner, slots)) return FieldValue::of_integer(0);
    Columns& columns = borrow_columns();
    Total total;
    if (!add_small_box(definition, code, slots, columns, total)) {
        do {
            if (!code.guard.evaluate(slots)) continue;
            add_row(definition, code, slots, columns, total);
        } while (advance_box(code, code.inner, slots));
    }
    close(code, columns, total);
    --columns_in_use_;
    return result(code, total);
}

/// The whole reduction as one column; false if it is no small box or a read may be outside.
bool FieldEvaluator::add_small_box(Definition& definition, const ReduceCode& code, int64_t* slots,
                                   Columns& columns, Total& total) {
    if (code.small_box == 0) return false;
    if (code.inner >= 0) slots[code.axes[code.inner].slot] = code.axes[code.inner].lo;
    std::array<int64_t, most_columns> bases{};
    for (size_t f = 0; f < code.factors.size(); ++f) {
        if (code.factors[f].read < 0) continue;
        const ReadCode& read = definition.code.reads[code.factors[f].read];
        for (size_t d = 0; d < read.axes.size(); ++d) {
            const ReadAxis& axis = read.axes[d];
            int64_t at = axis.index.evaluate(slots) - axis.lo;
            const Interval& reach = code.factors[f].reach[d];
            if (axis.may_be_outside && (at + reach.lo < 0 || at + reach.hi >= axis.extent))
                return false;
            bases[f] += at * axis.stride;
        }
    }
    count(code.small_box);
    for (size_t f = 0; f < code.factors.size(); ++f) {
        const FactorCode& factor = code.factors[f];
        Column& column = columns.column[f];
        if (factor.read >= 0)
            fill_box(definition.code.reads[factor.read], factor, bases[f], column);
        else
            fill(definition, factor, code, slots, 0, code.small_box, Row{}, column, 0);
    }
    columns.length = code.small_box;
    close(code, columns, total);
    return true;
}

/// Narrows the row to where the read is inside; false if that is nowhere.
bool FieldEvaluator::clip(const ReadCode& read, int inner_slot, int64_t* slots, Row& row) const {
    if (inner_slot >= 0) slots[inner_slot] = 0;
    row.base = 0;
    row.step = 0;
    for (const ReadAxis& axis : read.axes) {
        int64_t at = axis.index.evaluate(slots) - axis.lo;
        int64_t step = inner_slot >= 0 ? axis.index.coefficient(inner_slot) : 0;
        row.base += at * axis.stride;
        row.step += step * axis.stride;
        if (!axis.may_be_outside) continue;
        int64_t first = row.first, last = row.last;
        if (step == 0) {
            if (at < 0 || at >= axis.extent) last = first;
        } else {
            // 0 <= at + step * i < extent
            int64_t low = step > 0 ? -at : at - axis.extent + 1;
            int64_t high = step > 0 ? axis.extent - 1 - at : at;
            int64_t size = step > 0 ? step : -step;
            auto floor = [&](int64_t n) { return n >= 0 ? n / size : -((-n + size - 1) / size); };
            first = std::max(first, floor(low + size - 1));
            last = std::min(last, floor(high) + 1);
        }
        if (!read.has_outside && (first != row.first || last != row.last))
            throw OutsideRead(places_[read.tensor].tensor->name);
        row.first = first;
        row.last = last;
        if (first >= last) return false;
    }
    return true;
}

void FieldEvaluator::add_row(Definition& definition, const ReduceCode& code, int64_t* slots,
                             Columns& columns, Total& total) {
    int inner_slot = code.inner >= 0 ? code.axes[code.inner].slot : -1;
    Row common;
    common.last = 1;
    if (code.inner >= 0) {
        common.first = code.axes[code.inner].lo;
        common.last = code.axes[code.inner].hi;
    }
    std::array<Row, most_columns> rows;
    for (size_t f = 0; f < code.factors.size(); ++f) {
        if (code.factors[f].read < 0) continue;
        Row& row = rows[f];
        row.first = common.first;
        row.last = common.last;
        if (!clip(definition.code.reads[code.factors[f].read], inner_slot, slots, row)) return;
        common.first = row.first;
        common.last = row.last;
    }
    count(common.last - common.first);
    for (int64_t first = common.first; first < common.last;) {
        int64_t length = std::min(common.last - first, column_length - columns.length);
        for (size_t f = 0; f < code.factors.size(); ++f)
            fill(definition, code.factors[f], code, slots, first, length, rows[f],
                 columns.column[f], columns.length);
        columns.length += length;
        first += length;
        if (columns.length == column_length) close(code, columns, total);
    }
}

}  // namespace ollie::expr
