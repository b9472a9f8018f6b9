#include "search/estimate.h"

#include <algorithm>

#include "derive/scope.h"

namespace ollie::search {
namespace {

using namespace expr;

/// Share of the peak that generated code reaches: with a register tile, if both operands are used
/// again along some axis, and bound by loads otherwise.
constexpr double tiled_efficiency = 0.35;
constexpr double untiled_efficiency = 0.08;

double operations_per_point(Scalar s) {
    double own = 0;
    switch (s->kind) {
        case ScalarKind::Add:
        case ScalarKind::Mul:
            own = static_cast<double>(s->operands.size()) - 1;
            break;
        case ScalarKind::Function:
            own = s->operands.size() == 1 ? 10 : 1;
            break;
        case ScalarKind::Select:
            own = 1;
            break;
        case ScalarKind::Reduce: {
            double count = 1;
            for (const Axis& axis : s->axes) count *= static_cast<double>(axis.extent());
            return count * (1 + operations_per_point(s->operands[0]));
        }
        default:
            break;
    }
    for (Scalar operand : s->operands) own += operations_per_point(operand);
    return own;
}

double bytes_of(const Tensor* tensor) {
    return static_cast<double>(element_count(tensor->shape()) * size_of(tensor->type));
}

/// The taps of windows: reduction iterators that share an access with a traversal iterator.
double taps(const Tensor* definition) {
    double product = 1;
    for (Scalar reduction : derive::reductions_of(definition->body, Monoid::Sum))
        for (const Axis& axis : reduction->axes)
            for (Index access : derive::accesses_of(reduction->operands[0]))
                if (uses(access, axis.iterator) && iterators_of(access).size() > 1) {
                    product *= static_cast<double>(axis.extent());
                    break;
                }
    return product;
}

/// Some read that is reduced does not move with the axis: its elements stay in registers.
bool is_reused_along(Scalar reduction, Iterator axis) {
    for (Scalar read : reads_of(reduction))
        if (!uses(read, axis)) return true;
    return false;
}

/// Two axes of the result along which different operands are used again.
bool has_register_tile(const Tensor* definition) {
    constexpr int64_t shortest = 4;
    for (Scalar reduction : derive::reductions_of(definition->body, Monoid::Sum)) {
        int axes = 0;
        for (const Axis& axis : definition->axes)
            if (axis.extent() >= shortest && is_reused_along(reduction, axis.iterator)) ++axes;
        if (axes < 2) return false;
    }
    return true;
}

}  // namespace

double operations(const Tensor* definition) {
    return static_cast<double>(element_count(definition->shape())) *
           std::max(1.0, operations_per_point(definition->body));
}

double traffic(const std::vector<const Tensor*>& group) {
    std::vector<const Tensor*> sources;
    for (const Tensor* definition : group)
        for (const Tensor* source : sources_of(definition))
            if (std::find(group.begin(), group.end(), source) == group.end() &&
                std::find(sources.begin(), sources.end(), source) == sources.end())
                sources.push_back(source);
    double bytes = bytes_of(group.back());
    for (const Tensor* source : sources) bytes += bytes_of(source);
    return bytes;
}

double transfer_seconds(double bytes, const match::Machine& machine) {
    bool in_cache = bytes < 0.5 * static_cast<double>(machine.cache_bytes);
    return bytes / (in_cache ? machine.cache_bandwidth : machine.memory_bandwidth);
}

double kernel_seconds(const std::vector<const Tensor*>& group, const match::Machine& machine) {
    double arithmetic = 0;
    for (const Tensor* definition : group)
        arithmetic += operations(definition) /
                      (machine.flops *
                       (has_register_tile(definition) ? tiled_efficiency : untiled_efficiency));
    return machine.call_seconds + std::max(arithmetic, transfer_seconds(traffic(group), machine));
}

double floor_seconds(const Tensor* definition, const match::Machine& machine) {
    double arithmetic = operations(definition) / taps(definition) / machine.flops;
    return std::max(arithmetic, transfer_seconds(traffic({definition}), machine));
}

}  // namespace ollie::search
