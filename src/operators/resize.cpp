#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/interpolation.h"
#include "operators/meaning/reindex.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

bool is_upsample(const Context& context) { return context.node.operator_name == "Upsample"; }
bool is_early(const Context& context) { return is_upsample(context) || context.opset < 11; }

ResizeRule rule_of(const Context& context) {
    ResizeRule rule;
    std::string mode = context.string_attribute("mode", "nearest");
    if (mode == "linear" || mode == "bilinear")
        rule.interpolation = Interpolation::Linear;
    else if (mode == "cubic")
        rule.interpolation = Interpolation::Cubic;
    else if (mode != "nearest")
        context.fail(
            fmt::format("attribute mode is \"{}\", expected nearest, linear or cubic", mode));
    bool early = is_early(context);
    rule.coordinates = context.string_attribute("coordinate_transformation_mode",
                                                early ? "asymmetric" : "half_pixel");
    if (rule.coordinates == "tf_crop_and_resize") context.unsupported("tf_crop_and_resize");
    rule.nearest_mode =
        context.string_attribute("nearest_mode", early ? "floor" : "round_prefer_floor");
    rule.cubic_coefficient = context.float_attribute("cubic_coeff_a", -0.75);
    rule.excludes_outside = context.int_attribute("exclude_outside", 0) != 0;
    rule.antialiases = context.int_attribute("antialias", 0) != 0;
    return rule;
}

std::vector<double> scales_of(const Context& context) {
    if (auto scales = find_floats(context.node.attributes, "scales")) return *scales;
    size_t input = is_early(context) ? 1 : 2;
    if (!context.has_input(input)) return {};
    const Tensor* tensor = context.input(input);
    if (tensor->values == nullptr) context.unsupported("scales must be constant");
    std::vector<double> result;
    for (int64_t i = 0; i < tensor->values->size(); ++i) result.push_back(tensor->values->at(i));
    return result;
}

/// Makes all stated sizes keep the proportions of the input, on request.
void keep_proportions(const Context& context, std::vector<ResizedAxis>& axes,
                      const std::vector<size_t>& stated) {
    std::string policy = context.string_attribute("keep_aspect_ratio_policy", "stretch");
    if (policy == "stretch") return;
    double scale = axes[stated.front()].scale;
    for (size_t axis : stated)
        scale = policy == "not_larger" ? std::min(scale, axes[axis].scale)
                                       : std::max(scale, axes[axis].scale);
    for (size_t axis : stated) {
        double extent = scale * static_cast<double>(axes[axis].input);
        axes[axis].scale = scale;
        axes[axis].output = static_cast<int64_t>(std::floor(extent + 0.5));
    }
}

std::vector<ResizedAxis> resized_axes(const Context& context, const Tensor* x) {
    std::vector<ResizedAxis> result;
    std::vector<size_t> stated;
    for (int64_t extent : x->shape()) result.push_back({extent, extent, 1});
    for (size_t i = 0; i < result.size(); ++i) stated.push_back(i);
    if (auto axes = context.ints_attribute("axes")) {
        stated.clear();
        for (int64_t axis : *axes) stated.push_back(normalized_axis(context, axis, x->rank()));
    }
    std::vector<double> scales = scales_of(context);
    std::vector<int64_t> sizes;
    if (scales.empty() && !is_early(context)) sizes = context.constant_ints(3);
    if (std::max(scales.size(), sizes.size()) != stated.size())
        context.fail(fmt::format("{} scales or sizes for {} axes",
                                 std::max(scales.size(), sizes.size()), stated.size()));
    for (size_t i = 0; i < stated.size(); ++i) {
        ResizedAxis& axis = result[stated[i]];
        double extent = static_cast<double>(axis.input);
        axis.scale = sizes.empty() ? scales[i] : static_cast<double>(sizes[i]) / extent;
        axis.output =
            sizes.empty() ? static_cast<int64_t>(std::floor(extent * scales[i])) : sizes[i];
    }
    if (!sizes.empty()) keep_proportions(context, result, stated);
    return result;
}

HostArray weights_of(const Taps& taps, ElementType type) {
    int64_t count = taps.weights.empty() ? 0 : static_cast<int64_t>(taps.weights[0].size());
    HostArray array(type, {static_cast<int64_t>(taps.weights.size()), count});
    int64_t at = 0;
    for (const auto& row : taps.weights)
        for (double weight : row) array.set(at++, weight);
    return array;
}

Results express(const Context& context) {
    Arena& arena = context.arena;
    const Tensor* x = context.input(0);
    ResizeRule rule = rule_of(context);
    std::vector<ResizedAxis> resized = resized_axes(context, x);
    Shape shape;
    for (const ResizedAxis& axis : resized) shape.push_back(axis.output);
    std::vector<Axis> axes = axes_of(arena, shape);
    std::vector<Index> at = indices_of(axes);
    bool is_nearest = rule.interpolation == Interpolation::Nearest;
    if (!is_nearest && !is_float(x->type)) context.unsupported("interpolated integers");
    std::vector<Axis> reduced;
    std::vector<Scalar> factors;
    Ranges ranges(axes);
    for (size_t i = 0; i < at.size(); ++i) {
        if (!resized[i].is_resized() || element_count(shape) == 0) continue;
        if (is_nearest) {
            at[i] = lookup(nearest_positions(rule, resized[i]), at[i]);
            continue;
        }
        Taps taps = interpolating_taps(rule, resized[i]);
        const Tensor* weights =
            context.weight_part("weights" + std::to_string(i), weights_of(taps, x->type));
        Axis tap = axis_of(arena, "r" + std::to_string(i), weights->shape()[1]);
        reduced.push_back(tap);
        ranges.add({tap});
        factors.push_back(read(weights, {at[i], index_of(tap.iterator)}));
        Index position = lookup(taps.starts, at[i]) + index_of(tap.iterator);
        position = arena.max(position, arena.constant(0));
        at[i] = simplify(arena.min(position, arena.constant(resized[i].input - 1)), ranges);
    }
    factors.push_back(read(x, at));
    return {context.define(0, x->type, axes, sum(reduced, arena.mul(factors)))};
}

}  // namespace

extern const Operator resize{
    "Resize",
    {"Upsample"},
    7,
    "nearest, linear or cubic interpolation by constant scales or sizes",
    {{"mode", "nearest (default), linear, cubic"},
     {"coordinate_transformation_mode",
      "all but tf_crop_and_resize; default half_pixel, before "
      "opset 11 asymmetric"},
     {"nearest_mode", "default round_prefer_floor, before opset 11 floor"},
     {"cubic_coeff_a", "default -0.75"},
     {"exclude_outside", "1 weighs only elements inside; default 0"},
     {"antialias", "1 widens the filter where the scale is below 1; default 0"},
     {"axes", "which axes scales and sizes speak of; default all"},
     {"keep_aspect_ratio_policy", "stretch (default), not_larger, not_smaller"},
     {"scales", "Upsample before opset 9"}},
    express};

}  // namespace ollie::operators::entries
