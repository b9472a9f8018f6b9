#include "onnx/fold.h"

#include <algorithm>

#include "expr/evaluate.h"

namespace ollie::onnx {
namespace {

/// Shape arithmetic has a handful of elements; more than these are data.
constexpr int64_t result_limit = 1 << 14;
constexpr int64_t work_limit = 1 << 18;

}  // namespace

Fold::Facts Fold::facts_of_constant(const HostArray& array) {
    return {true, is_float(array.type()), array.size()};
}

Fold::Facts Fold::facts_of_result(const expr::Tensor* result, const std::vector<Facts>& inputs) {
    Facts facts{true, is_float(result->type), element_count(result->shape())};
    for (const Facts& input : inputs) {
        facts.is_fixed = facts.is_fixed && input.is_fixed;
        facts.has_float = facts.has_float || input.has_float;
        facts.elements = std::min(facts.elements + input.elements, 2 * work_limit);
    }
    return facts;
}

std::shared_ptr<const HostArray> Fold::try_fold(const expr::Tensor* tensor,
                                                const Facts& facts) const {
    if (tensor->kind == expr::TensorKind::Weight) return tensor->values;
    if (!facts.is_fixed || is_float(tensor->type)) return nullptr;
    if (element_count(tensor->shape()) > result_limit || facts.elements > work_limit)
        return nullptr;
    // Floats on the way are rounded as the model rounds them; without any, integers are exact.
    expr::Expr expr{arena_, {tensor}};
    auto values = facts.has_float ? expr::evaluate_float32(expr, {}) : expr::evaluate(expr, {});
    return std::make_shared<const HostArray>(std::move(values.front()));
}

}  // namespace ollie::onnx
