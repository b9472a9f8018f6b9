#pragma once

#include <string>
#include <vector>

#include "expr/build.h"

/// Definitions of windows sliding over spatial axes, spelled as the meanings of operators are.
namespace ollie::backends::cpu {

struct Spatial {
    int64_t input;
    int64_t kernel;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_begin = 0;
    int64_t pad_end = 0;

    int64_t slid() const {
        return (input + pad_begin + pad_end - (kernel - 1) * dilation - 1) / stride + 1;
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
    std::vector<Spatial> spatial;
};

struct Maker {
    expr::Arena arena;
    std::vector<expr::Axis> result;

    expr::Axis axis(std::string name, int64_t extent) {
        return {arena.iterator(std::move(name)), 0, extent};
    }
    expr::Index index(const expr::Axis& axis) { return expr::index_of(axis.iterator); }

    const expr::Tensor* define(expr::Scalar body) {
        return arena.define("y", ElementType::F32, result, body);
    }

    expr::Scalar convolution(const Case& c, bool is_constant = true) {
        expr::Axis n = axis("n", c.images), f = axis("f", c.filters * c.groups),
                   ch = axis("c", c.channels);
        Shape source{c.images, c.channels * c.groups}, weights{c.filters * c.groups, c.channels};
        expr::Index channel = index(ch);
        if (c.groups > 1) channel = expr::div(index(f), c.filters) * c.channels + channel;
        std::vector<expr::Index> a{index(n), channel}, k{index(f), index(ch)};
        std::vector<expr::Axis> reduced{ch};
        result = {n, f};
        for (const Spatial& s : c.spatial) {
            expr::Axis h = axis("h", s.slid()), r = axis("r", s.kernel);
            result.push_back(h);
            reduced.push_back(r);
            source.push_back(s.input);
            weights.push_back(s.kernel);
            a.push_back(index(h) * s.stride + index(r) * s.dilation - s.pad_begin);
            k.push_back(index(r));
        }
        const expr::Tensor* kernel = is_constant ? arena.weight("k", ElementType::F32, weights)
                                                 : arena.input("k", ElementType::F32, weights);
        return expr::sum(reduced, arena.read(arena.input("a", ElementType::F32, source), a, 0) *
                                      arena.read(kernel, k));
    }

    expr::Scalar deconvolution(const Case& c) {
        expr::Axis n = axis("n", c.images), f = axis("f", c.filters * c.groups),
                   ch = axis("c", c.channels);
        Shape source{c.images, c.channels * c.groups}, weights{c.channels * c.groups, c.filters};
        expr::Index channel = index(ch), filter = index(f);
        if (c.groups > 1) {
            channel = expr::div(filter, c.filters) * c.channels + channel;
            filter = expr::mod(filter, c.filters);
        }
        std::vector<expr::Index> a{index(n), channel}, k{channel, filter};
        std::vector<expr::Axis> reduced{ch};
        result = {n, f};
        expr::Predicate divides = arena.truth(true);
        for (const Spatial& s : c.spatial) {
            expr::Axis h = axis("h", s.scattered()), r = axis("r", s.kernel);
            result.push_back(h);
            reduced.push_back(r);
            source.push_back(s.input);
            weights.push_back(s.kernel);
            expr::Index numerator = index(h) + s.pad_begin - index(r) * s.dilation;
            if (s.stride > 1) divides = divides && expr::mod(numerator, s.stride) == 0;
            a.push_back(expr::div(numerator, s.stride));
            k.push_back(index(r));
        }
        expr::Scalar product = arena.read(arena.input("a", ElementType::F32, source), a, 0) *
                               arena.read(arena.weight("k", ElementType::F32, weights), k);
        return expr::sum(reduced, arena.select(divides, product, arena.constant_scalar(0)));
    }

    expr::Scalar by_channel(const std::string& name) {
        const expr::Tensor* tensor = arena.weight(name, ElementType::F32, {result[1].extent()});
        return arena.read(tensor, {index(result[1])});
    }
    expr::Scalar residual() {
        Shape shape;
        for (const expr::Axis& axis : result) shape.push_back(axis.extent());
        return arena.read(arena.input("residual", ElementType::F32, shape),
                          expr::indices_of(result));
    }
    expr::Scalar function(expr::Function f, std::vector<expr::Scalar> operands) {
        return arena.function(f, operands);
    }
    expr::Scalar leaky(expr::Scalar x, expr::Scalar slope) {
        expr::Scalar below = function(expr::Function::Less, {x, arena.constant_scalar(0)});
        return function(expr::Function::Where, {below, x * slope, x});
    }
};

}  // namespace ollie::backends::cpu
