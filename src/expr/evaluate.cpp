#include "expr/evaluate.h"

#include "base/error.h"
#include "expr/evaluation/interpreter.h"

namespace ollie::expr {

using evaluation::Interpreter;

struct PointEvaluator::Impl {
    Interpreter<double> interpreter;
};

PointEvaluator::PointEvaluator(const Expr& expr, const Bindings& bindings)
    : impl_(new Impl{Interpreter<double>(expr, bindings)}) {}

PointEvaluator::~PointEvaluator() = default;

double PointEvaluator::at(const Tensor* tensor, const std::vector<int64_t>& point) {
    return impl_->interpreter.at(tensor, point).number();
}

namespace {

template <typename Real>
std::vector<HostArray> evaluate_all(const Expr& expr, const Bindings& bindings) {
    Interpreter<Real> interpreter(expr, bindings);
    std::vector<HostArray> results;
    for (const Tensor* tensor : expr.outputs) {
        auto elements = evaluation::elements_for<Real>(tensor->type, tensor->shape());
        std::vector<int64_t> point;
        for (const Axis& axis : tensor->axes) point.push_back(axis.lo);
        for (int64_t i = 0; i < element_count(tensor->shape()); ++i) {
            auto value = interpreter.at(tensor, point);
            if (elements.domain == evaluation::Domain::Real)
                elements.reals[static_cast<size_t>(i)] = value.real;
            else
                elements.integers[static_cast<size_t>(i)] = value.integer;
            for (size_t k = point.size(); k-- > 0;) {
                if (++point[k] < tensor->axes[k].hi) break;
                point[k] = tensor->axes[k].lo;
            }
        }
        results.push_back(evaluation::array_of(elements, tensor->type, tensor->shape()));
    }
    return results;
}

}  // namespace

std::vector<HostArray> evaluate(const Expr& expr, const Bindings& bindings) {
    return evaluate_all<double>(expr, bindings);
}

std::vector<HostArray> evaluate_float32(const Expr& expr, const Bindings& bindings) {
    return evaluate_all<float>(expr, bindings);
}

}  // namespace ollie::expr
