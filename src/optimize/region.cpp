#include "optimize/region.h"

#include <algorithm>
#include <map>

#include "derive/scope.h"
#include "search/estimate.h"

namespace ollie::optimize {
namespace {

using namespace expr;

using Box = std::vector<Interval>;
using Boxes = std::map<const Tensor*, Box>;

Ranges ranges_within(const Tensor* definition, const Box& box) {
    Ranges ranges = derive::scope_of(definition);
    for (size_t i = 0; i < box.size(); ++i) ranges.add(definition->axes[i].iterator, box[i]);
    return ranges;
}

/// Adds what the read takes of its tensor's domain.
void demand(Scalar read, const Ranges& ranges, Boxes& boxes) {
    if (!read->tensor->is_definition()) return;
    Box box;
    for (size_t i = 0; i < read->indices.size(); ++i) {
        const Axis& axis = read->tensor->axes[i];
        Interval interval = interval_of(read->indices[i], ranges);
        box.push_back({std::max(interval.lo, axis.lo), std::min(interval.hi, axis.hi - 1)});
    }
    auto [found, is_new] = boxes.try_emplace(read->tensor, box);
    if (is_new) return;
    for (size_t i = 0; i < box.size(); ++i) {
        Interval& known = found->second[i];
        if (known.lo > known.hi) known = box[i];
        if (box[i].lo > box[i].hi) continue;
        known = {std::min(known.lo, box[i].lo), std::max(known.hi, box[i].hi)};
    }
}

/// What of each definition is read; consumers before producers.
Boxes demands(const Expr& expr, const std::vector<Region>& regions) {
    Boxes boxes;
    for (size_t k = 0; k < regions.size(); ++k) {
        Box box;
        for (size_t i = 0; i < regions[k].first.size(); ++i) {
            int64_t first = expr.outputs[k]->axes[i].lo + regions[k].first[i];
            box.push_back({first, first + regions[k].extent[i] - 1});
        }
        if (expr.outputs[k]->is_definition()) boxes[expr.outputs[k]] = std::move(box);
    }
    std::vector<const Tensor*> definitions = definitions_of(expr);
    for (auto it = definitions.rbegin(); it != definitions.rend(); ++it) {
        Ranges ranges = ranges_within(*it, boxes.at(*it));
        for (Scalar read : reads_of((*it)->body)) demand(read, ranges, boxes);
    }
    return boxes;
}

const Tensor* shrunk(const Tensor* definition, const Boxes& boxes,
                     const std::map<const Tensor*, const Tensor*>& known) {
    const Box& box = boxes.at(definition);
    Substitution moved;
    std::vector<Axis> axes;
    for (size_t i = 0; i < box.size(); ++i) {
        Iterator iterator = definition->axes[i].iterator;
        axes.push_back({iterator, 0, std::max<int64_t>(0, box[i].hi - box[i].lo + 1)});
        moved[iterator] = index_of(iterator) + box[i].lo;
    }
    Scalar body = rewrite(substitute(definition->body, moved), [&](Scalar s) {
        if (s->kind != ScalarKind::Read || !s->tensor->is_definition()) return s;
        std::vector<Index> indices = s->indices;
        for (size_t i = 0; i < indices.size(); ++i)
            indices[i] = indices[i] - boxes.at(s->tensor)[i].lo;
        return s->arena->read(known.at(s->tensor), indices, outside_of(s));
    });
    return with_body(definition, axes, body);
}

Region whole_of(const Tensor* output) {
    Shape shape = output->shape();
    return {std::vector<int64_t>(shape.size(), 0), {shape.begin(), shape.end()}};
}

enum class Anchor { First, Last, Middle };

void anchor(Region& region, const Shape& shape, Anchor at) {
    for (size_t i = 0; i < region.first.size(); ++i) {
        int64_t room = shape[i] - region.extent[i];
        region.first[i] = at == Anchor::First ? 0 : at == Anchor::Last ? room : room / 2;
    }
}

/// Halves, again and again, the axis of an output that saves most. An output stays whole that is
/// no definition or that another one reads.
std::vector<Region> affordable(const Expr& expr, std::vector<Region> regions,
                               double most_operations) {
    const std::map<const Tensor*, int> uses = use_counts(expr);
    for (double cost = operations(expr); cost > most_operations;) {
        std::vector<Region> best;
        for (size_t k = 0; k < regions.size(); ++k) {
            const Tensor* output = expr.outputs[k];
            if (!output->is_definition() || uses.at(output) > 1) continue;
            for (size_t i = 0; i < regions[k].extent.size(); ++i) {
                if (regions[k].extent[i] < 2) continue;
                std::vector<Region> smaller = regions;
                smaller[k].extent[i] = (smaller[k].extent[i] + 1) / 2;
                double saved = operations(restricted(expr, smaller));
                if (saved >= cost) continue;
                cost = saved;
                best = std::move(smaller);
            }
        }
        if (best.empty()) break;
        regions = std::move(best);
    }
    return regions;
}

}  // namespace

int64_t Region::size() const {
    int64_t result = 1;
    for (int64_t extent_of_axis : extent) result *= extent_of_axis;
    return result;
}

void Region::for_each(const Shape& shape,
                      const std::function<void(int64_t, int64_t)>& visit) const {
    std::vector<int64_t> at(first.size(), 0);
    for (int64_t inside = 0, count = size(); inside < count; ++inside) {
        int64_t whole = 0;
        for (size_t i = 0; i < at.size(); ++i) whole = whole * shape[i] + first[i] + at[i];
        visit(inside, whole);
        for (size_t i = at.size(); i-- > 0;) {
            if (++at[i] < extent[i]) break;
            at[i] = 0;
        }
    }
}

Expr restricted(const Expr& expr, const std::vector<Region>& regions) {
    Boxes boxes = demands(expr, regions);
    std::map<const Tensor*, const Tensor*> known;
    for (const Tensor* definition : definitions_of(expr))
        known[definition] = shrunk(definition, boxes, known);
    Expr result{expr.arena, {}};
    for (const Tensor* output : expr.outputs)
        result.outputs.push_back(output->is_definition() ? known.at(output) : output);
    return result;
}

double operations(const Expr& expr) {
    double result = 0;
    for (const Tensor* definition : definitions_of(expr)) result += search::operations(definition);
    return result;
}

std::vector<std::vector<Region>> sampled_regions(const Expr& expr, double most_operations) {
    std::vector<Region> whole;
    for (const Tensor* output : expr.outputs) whole.push_back(whole_of(output));
    if (operations(expr) <= most_operations) return {whole};
    std::vector<Region> regions = affordable(expr, whole, most_operations / 3);
    std::vector<std::vector<Region>> result;
    for (Anchor at : {Anchor::First, Anchor::Last, Anchor::Middle}) {
        for (size_t k = 0; k < regions.size(); ++k)
            anchor(regions[k], expr.outputs[k]->shape(), at);
        if (std::find(result.begin(), result.end(), regions) == result.end())
            result.push_back(regions);
    }
    return result;
}

}  // namespace ollie::optimize
