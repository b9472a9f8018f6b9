#include "expr/build.h"
#include "operators/meaning/reduction.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

Scalar term(const std::string& name, Scalar x) {
    if (name == "ReduceSumSquare" || name == "ReduceL2") return x * x;
    if (name == "ReduceL1") return x->arena->function(Function::Abs, {x});
    return x;
}

Monoid monoid_of(const std::string& name) {
    if (name == "ReduceMax") return Monoid::Max;
    if (name == "ReduceMin") return Monoid::Min;
    return name == "ReduceProd" ? Monoid::Prod : Monoid::Sum;
}

Scalar finish(const std::string& name, ElementType type, Scalar value, double count) {
    Arena& arena = *value->arena;
    if (name == "ReduceL2") return arena.function(Function::Sqrt, {value});
    if (name == "ReduceLogSum") return arena.function(Function::Log, {value});
    if (name != "ReduceMean") return value;
    Scalar divisor = arena.constant_scalar(count);
    return is_float(type) ? value / divisor : arena.function(Function::TruncDiv, {value, divisor});
}

/// log(sum exp(x)) by way of the maximum, so that nothing overflows.
Results log_sum_exp(const Context& context, const Tensor* x, const std::vector<size_t>& axes) {
    Arena& arena = context.arena;
    Reduction over = reduction(context, x, axes, false);
    const Tensor* maximum = context.define_part(
        "max", x->type, over.kept, arena.reduce(Monoid::Max, over.reduced, read(x, over.input)));
    over = reduction(context, x, axes, context.int_attribute("keepdims", 1) != 0);
    Scalar top = read(maximum, indices_of(over.kept));
    Scalar total = sum(over.reduced, arena.function(Function::Exp, {read(x, over.input) - top}));
    Scalar body = arena.function(Function::Log, {total}) + top;
    return {context.define(0, x->type, over.result, body)};
}

/// Integers have no infinity: over nothing, their extremum is the type's least or greatest value.
Scalar reduced_value(const std::string& name, const Tensor* x, const Reduction& over) {
    Arena& arena = *x->arena;
    Monoid monoid = monoid_of(name);
    bool is_extremum = monoid == Monoid::Max || monoid == Monoid::Min;
    if (is_extremum && over.count() == 0)
        return arena.constant_scalar(monoid == Monoid::Max ? lowest(x->type) : highest(x->type));
    return arena.reduce(monoid, over.reduced, term(name, read(x, over.input)));
}

Results express(const Context& context) {
    const std::string& name = context.node.operator_name;
    const Tensor* x = context.input(0);
    std::vector<size_t> axes = reduced_axes(context, x);
    if (name == "ReduceLogSumExp") return log_sum_exp(context, x, axes);
    Reduction over = reduction(context, x, axes, context.int_attribute("keepdims", 1) != 0);
    Scalar value = reduced_value(name, x, over);
    return {context.define(0, x->type, over.result, finish(name, x->type, value, over.count()))};
}

}  // namespace

extern const Operator reduce{
    "ReduceSum",
    {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1",
     "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"},
    1,
    "reduction over the given axes, all by default",
    {{"axes", "or input 1, which must be constant; negative axes count from the end"},
     {"keepdims", "1 (default) keeps the axes with extent 1"},
     {"noop_with_empty_axes", "1 reduces nothing where no axes are given; default 0"}},
    express};

}  // namespace ollie::operators::entries
