#include "codegen/access.h"

#include <algorithm>
#include <cstdlib>

#include "expr/build.h"
#include "expr/visit.h"

namespace ollie::codegen {
namespace {

using namespace expr;

bool is_linear(Index index, Iterator iterator) {
    return std::none_of(index->terms.begin(), index->terms.end(), [&](const Term& term) {
        const AtomNode& atom = *term.atom;
        return atom.kind != AtomKind::Iterator &&
               ((atom.a && uses(atom.a, iterator)) || (atom.b && uses(atom.b, iterator)));
    });
}

double weight_of_step(std::optional<int64_t> step, int lanes) {
    if (!step) return lanes;
    int64_t distance = std::abs(*step);
    if (distance <= 1) return 1;
    return distance <= widest_shuffle ? static_cast<double>(distance) : lanes;
}

int64_t points_of(const std::vector<Axis>& axes) {
    int64_t points = 1;
    for (const Axis& axis : axes) points *= axis.extent();
    return points;
}

}  // namespace

std::optional<int64_t> address_step(const Kernel& kernel, Scalar read, Iterator iterator) {
    const Argument* argument = kernel.argument(read->tensor);
    int64_t step = 0;
    for (size_t d = 0; d < read->indices.size(); ++d) {
        Index index = read->indices[d];
        if (!uses(index, iterator)) continue;
        if (!is_linear(index, iterator)) return std::nullopt;
        int64_t stride = 1;  // A stage is stored as it is needed.
        if (argument != nullptr) stride = argument->strides[d];
        step += coefficient(index, iterator) * stride;
    }
    return step;
}

double vector_weight(const Kernel& kernel, Scalar read, Iterator iterator, int lanes) {
    return weight_of_step(address_step(kernel, read, iterator), lanes);
}

double vector_weight(const Kernel& kernel, const Stage& stage, Iterator iterator, int lanes) {
    double total = 0;
    for (Scalar read : reads_of(stage.tensor->body))
        total += vector_weight(kernel, read, iterator, lanes);
    return std::max(total, 1.0);
}

double vector_cost(const Kernel& kernel, int axis, int lanes) {
    Iterator iterator = kernel.result().tensor->axes[static_cast<size_t>(axis)].iterator;
    double total = weight_of_step(kernel.loops[static_cast<size_t>(axis)].stride, lanes) *
                   static_cast<double>(kernel.result_elements);
    for (const Stage& stage : kernel.stages)
        total += vector_weight(kernel, stage, iterator, lanes) *
                 static_cast<double>(taps_of(stage) * points_of(stage.tensor->axes));
    return total / lanes;
}

int64_t taps_of(const Stage& stage) {
    return stage.reduction() ? points_of(stage.reduction()->axes) : 1;
}

}  // namespace ollie::codegen
