#pragma once

#include "backends/cpu/call_test.h"

/// Makes definitions of convolutions, their transposes and pools as operators' meanings do.
namespace ollie::backends::cpu {

using expr::Axis;
using expr::Function;
using expr::Index;
using expr::Scalar;
using expr::Tensor;

/// One spatial axis.
struct Spatial {
    int64_t input;
    int64_t kernel;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_begin = 0;
    int64_t pad_end = 0;

    int64_t slid() const {
        int64_t room = input + pad_begin + pad_end - (kernel - 1) * dilation - 1;
        return room < 0 ? 0 : room / stride + 1;
    }
    int64_t scattered() const {
        return (input - 1) * stride + (kernel - 1) * dilation + 1 - pad_begin - pad_end;
    }
};

struct Case {
    int64_t images = 1;
    int64_t channels = 1;  ///< Per group.
    int64_t filters = 1;   ///< Per group.
    int64_t groups = 1;
    std::vector<Spatial> spatial = {};
    bool has_group_axis = false;  ///< The group is an axis of all tensors, not a quotient.
};

enum class PoolKind { Maximum, Sum, Mean, MeanInside };

class WindowMaker {
public:
    expr::Arena arena;
    std::vector<Axis> result;
    std::vector<Axis> channels;  ///< Of the result.

    const Tensor* define(Scalar body) { return arena.define("y", ElementType::F32, result, body); }

    Scalar convolution(const Case& c, bool is_constant = true) {
        Axis ch = begin(c);
        Index filter = index(channels.back());
        if (c.has_group_axis)
            source_ = {index(result[0]), index(channels[0]), index(ch)};
        else
            source_ = {index(result[0]), channel_of(c, filter, ch)};
        weights_ = {filter, index(ch)};
        weights_shape_ = {c.has_group_axis ? c.filters : c.filters * c.groups, c.channels};
        add_group_axis_of_weights(c);
        for (const Spatial& s : c.spatial) {
            auto [h, r] = add_spatial(s, s.slid());
            source_.push_back(h * s.stride + r * s.dilation - s.pad_begin);
        }
        return sum(reduced_, product(is_constant));
    }

    Scalar deconvolution(const Case& c) {
        Axis ch = begin(c);
        Index filter = index(channels.back());
        if (c.has_group_axis) {
            source_ = {index(result[0]), index(channels[0]), index(ch)};
            weights_ = {index(ch), filter};
        } else {
            Index channel = channel_of(c, filter, ch);
            source_ = {index(result[0]), channel};
            weights_ = {channel, c.groups > 1 ? mod(filter, c.filters) : filter};
        }
        weights_shape_ = {c.has_group_axis ? c.channels : c.channels * c.groups, c.filters};
        add_group_axis_of_weights(c);
        expr::Predicate divides = arena.truth(true);
        for (const Spatial& s : c.spatial) {
            auto [h, r] = add_spatial(s, s.scattered());
            Index numerator = h + s.pad_begin - r * s.dilation;
            if (s.stride > 1) divides = divides && mod(numerator, s.stride) == 0;
            source_.push_back(div(numerator, s.stride));
        }
        return sum(reduced_, arena.select(divides, product(true), arena.constant_scalar(0)));
    }

    Scalar pool(const Case& c, PoolKind kind) {
        Axis n = axis("n", c.images), f = axis("c", c.channels);
        result = {n, f};
        channels = {f};
        source_shape_ = {c.images, c.channels};
        source_ = {index(n), index(f)};
        Scalar count = arena.constant_scalar(1);
        for (const Spatial& s : c.spatial) {
            auto [h, r] = add_spatial(s, s.slid());
            source_.push_back(h * s.stride + r * s.dilation - s.pad_begin);
            count = count * (kind == PoolKind::MeanInside
                                 ? arena.number(taps_inside(s))
                                 : arena.constant_scalar(static_cast<double>(s.kernel)));
        }
        bool is_maximum = kind == PoolKind::Maximum;
        Scalar value = arena.reduce(is_maximum ? expr::Monoid::Max : expr::Monoid::Sum, reduced_,
                                    arena.read(arena.input("a", ElementType::F32, source_shape_),
                                               source_, is_maximum ? -INFINITY : 0));
        return kind == PoolKind::Mean || kind == PoolKind::MeanInside ? value / count : value;
    }

    /// A tensor read at these axes of the result.
    Scalar varying(const std::string& name, const std::vector<Axis>& axes, bool is_constant) {
        Shape shape;
        for (const Axis& axis : axes) shape.push_back(axis.extent());
        return arena.read(is_constant ? arena.weight(name, ElementType::F32, shape)
                                      : arena.input(name, ElementType::F32, shape),
                          indices_of(axes));
    }
    Scalar by_channel(const std::string& name) { return varying(name, channels, true); }
    Scalar residual(const std::string& name = "residual") { return varying(name, result, false); }
    Scalar function(Function f, std::vector<Scalar> operands) {
        return arena.function(f, std::move(operands));
    }

private:
    Axis axis(std::string name, int64_t extent) {
        return {arena.iterator(std::move(name)), 0, extent};
    }
    Index index(const Axis& axis) { return index_of(axis.iterator); }

    /// Images, groups and channels; returns the reduced channel.
    Axis begin(const Case& c) {
        result = {axis("n", c.images)};
        if (c.has_group_axis)
            channels = {axis("g", c.groups), axis("f", c.filters)};
        else
            channels = {axis("f", c.filters * c.groups)};
        result.insert(result.end(), channels.begin(), channels.end());
        Axis ch = axis("c", c.channels);
        reduced_ = {ch};
        source_shape_ = {c.images, c.channels * c.groups};
        if (c.has_group_axis) source_shape_ = {c.images, c.groups, c.channels};
        return ch;
    }

    Index channel_of(const Case& c, Index filter, const Axis& ch) {
        if (c.groups == 1) return index(ch);
        return div(filter, c.filters) * c.channels + index(ch);
    }

    void add_group_axis_of_weights(const Case& c) {
        if (!c.has_group_axis) return;
        weights_.insert(weights_.begin(), index(channels[0]));
        weights_shape_.insert(weights_shape_.begin(), c.groups);
    }

    /// The indices of positions and taps.
    std::pair<Index, Index> add_spatial(const Spatial& s, int64_t positions) {
        Axis h = axis("h", positions), r = axis("r", s.kernel);
        result.push_back(h);
        reduced_.push_back(r);
        source_shape_.push_back(s.input);
        weights_shape_.push_back(s.kernel);
        weights_.push_back(index(r));
        return {index(h), index(r)};
    }

    Scalar product(bool is_constant) {
        const Tensor* kernel = is_constant ? arena.weight("k", ElementType::F32, weights_shape_)
                                           : arena.input("k", ElementType::F32, weights_shape_);
        const Tensor* data = arena.input("a", ElementType::F32, source_shape_);
        return arena.read(data, source_, 0) * arena.read(kernel, weights_);
    }

    /// How many taps of the last spatial axis lie inside.
    Index taps_inside(const Spatial& s) {
        Axis h = result.back();
        Index first = index(h) * s.stride - s.pad_begin;
        auto before = [&](int64_t bound) {
            Index taps = div(-first + (bound + s.dilation - 1), s.dilation);
            return arena.min(arena.max(taps, arena.constant(0)), arena.constant(s.kernel));
        };
        return simplify(before(s.input) - before(0), expr::Ranges({h}));
    }

    std::vector<Axis> reduced_;
    std::vector<Index> source_;
    std::vector<Index> weights_;
    Shape source_shape_;
    Shape weights_shape_;
};

}  // namespace ollie::backends::cpu
