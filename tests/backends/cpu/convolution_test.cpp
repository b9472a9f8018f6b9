#include "backends/cpu/call_test.h"

namespace ollie::backends::cpu {
namespace {

using namespace expr;

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

/// Makes definitions as the operators' meanings do.
struct Maker {
    Arena arena;
    std::vector<Axis> result;

    Axis axis(std::string name, int64_t extent) {
        return {arena.iterator(std::move(name)), 0, extent};
    }
    Index index(const Axis& axis) { return index_of(axis.iterator); }

    const Tensor* define(Scalar body) { return arena.define("y", ElementType::F32, result, body); }

    Scalar convolution(const Case& c, bool is_constant = true) {
        Axis n = axis("n", c.images), f = axis("f", c.filters * c.groups),
             ch = axis("c", c.channels);
        Shape source{c.images, c.channels * c.groups}, weights{c.filters * c.groups, c.channels};
        Index channel = index(ch);
        if (c.groups > 1) channel = div(index(f), c.filters) * c.channels + channel;
        std::vector<Index> a{index(n), channel}, k{index(f), index(ch)};
        std::vector<Axis> reduced{ch};
        result = {n, f};
        for (const Spatial& s : c.spatial) {
            Axis h = axis("h", s.slid()), r = axis("r", s.kernel);
            result.push_back(h);
            reduced.push_back(r);
            source.push_back(s.input);
            weights.push_back(s.kernel);
            a.push_back(index(h) * s.stride + index(r) * s.dilation - s.pad_begin);
            k.push_back(index(r));
        }
        const Tensor* kernel = is_constant ? arena.weight("k", ElementType::F32, weights)
                                           : arena.input("k", ElementType::F32, weights);
        return sum(reduced, arena.read(arena.input("a", ElementType::F32, source), a, 0) *
                                arena.read(kernel, k));
    }

    Scalar deconvolution(const Case& c) {
        Axis n = axis("n", c.images), f = axis("f", c.filters * c.groups),
             ch = axis("c", c.channels);
        Shape source{c.images, c.channels * c.groups}, weights{c.channels * c.groups, c.filters};
        Index channel = index(ch), filter = index(f);
        if (c.groups > 1) {
            channel = div(filter, c.filters) * c.channels + channel;
            filter = mod(filter, c.filters);
        }
        std::vector<Index> a{index(n), channel}, k{channel, filter};
        std::vector<Axis> reduced{ch};
        result = {n, f};
        Predicate divides = arena.truth(true);
        for (const Spatial& s : c.spatial) {
            Axis h = axis("h", s.scattered()), r = axis("r", s.kernel);
            result.push_back(h);
            reduced.push_back(r);
            source.push_back(s.input);
            weights.push_back(s.kernel);
            Index numerator = index(h) + s.pad_begin - index(r) * s.dilation;
            if (s.stride > 1) divides = divides && mod(numerator, s.stride) == 0;
            a.push_back(div(numerator, s.stride));
            k.push_back(index(r));
        }
        Scalar product = arena.read(arena.input("a", ElementType::F32, source), a, 0) *
                         arena.read(arena.weight("k", ElementType::F32, weights), k);
        return sum(reduced, arena.select(divides, product, arena.constant_scalar(0)));
    }

    Scalar by_channel(const std::string& name) {
        const Tensor* tensor = arena.weight(name, ElementType::F32, {result[1].extent()});
        return arena.read(tensor, {index(result[1])});
    }
    Scalar residual() {
        Shape shape;
        for (const Axis& axis : result) shape.push_back(axis.extent());
        return arena.read(arena.input("residual", ElementType::F32, shape), indices_of(result));
    }
    Scalar function(Function f, std::vector<Scalar> operands) {
        return arena.function(f, operands);
    }
    Scalar leaky(Scalar x, Scalar slope) {
        Scalar below = function(Function::Less, {x, arena.constant_scalar(0)});
        return function(Function::Where, {below, x * slope, x});
    }
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {1, 3, 5, 1, {{9, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}}},
        {2, 16, 32, 1, {{7, 3, 2, 1, 1, 1}, {11, 5, 2, 1, 2, 2}}},
        {1, 7, 17, 1, {{13, 3, 1, 2, 2, 2}, {13, 3, 1, 3, 3, 3}}},
        {2, 5, 1, 1, {{8, 5, 1, 1, 0, 3}, {9, 4, 1, 1, 2, 1}}},
        {3, 1, 1, 1, {{6, 3}, {1, 1}}},
        {1, 8, 8, 1, {{5, 1}, {5, 1}}},
        {1, 17, 13, 1, {{1, 1}, {1, 1}}},
        {2, 4, 6, 3, {{7, 3, 1, 1, 1, 1}, {7, 3, 2, 1, 1, 0}}},
        {2, 1, 1, 19, {{9, 3, 1, 1, 1, 1}, {9, 3, 1, 1, 1, 1}}},
        {1, 1, 2, 16, {{9, 5, 1, 2, 4, 4}, {9, 5, 1, 2, 4, 4}}},
        {2, 5, 3, 1, {{37, 7, 1, 1, 3, 3}}},
        {1, 16, 16, 1, {{33, 5, 2, 3, 0, 2}}},
        {1, 2, 3, 1, {{5, 3, 1, 1, 1, 1}, {6, 3, 2, 1, 1, 1}, {7, 3, 1, 1, 0, 1}}},
        {2, 1, 1, 3, {{5, 3, 1, 1, 1, 1}, {6, 3, 1, 1, 1, 1}, {7, 2, 1, 1, 0, 1}}},
        {1, 4, 4, 1, {{9, 3, 1, 1, -1, -2}, {9, 3, 1, 1, 1, -3}}},
        {1, 4, 4, 1, {{9, 2, 3, 1, 0, -2}, {9, 1, 2, 1, 0, 0}}},
    };
    return all;
}

TEST(Convolution, EveryChoiceIsTheMeaning) {
    for (size_t i = 0; i < cases().size(); ++i) {
        SCOPED_TRACE(i);
        Maker maker;
        Scalar value = maker.convolution(cases()[i]);
        EXPECT_GT(check_call("onednn_convolution", maker.define(value)), 0u);
    }
}

TEST(Convolution, WeightsMayBeInputs) {
    Maker maker;
    Scalar value = maker.convolution(cases()[1], false);
    EXPECT_GT(check_call("onednn_convolution", maker.define(value)), 0u);
}

TEST(Convolution, Epilogues) {
    using Epilogue = std::function<Scalar(Maker&, Scalar)>;
    const std::vector<Epilogue> epilogues{
        [](Maker& m, Scalar v) { return v + m.by_channel("b"); },
        [](Maker& m, Scalar v) { return relu(v + m.by_channel("b")); },
        [](Maker& m, Scalar v) { return relu(v + m.by_channel("b") + m.residual()); },
        [](Maker& m, Scalar v) { return m.residual() + relu(v * m.by_channel("s")); },
        [](Maker& m, Scalar v) { return m.leaky(v + m.by_channel("b"), m.by_channel("p")); },
        [](Maker& m, Scalar v) { return m.leaky(v, m.arena.constant_scalar(0.125)); },
        [](Maker& m, Scalar v) {
            return min(max(v * 0.5 + 0.25, m.arena.constant_scalar(0)), m.arena.constant_scalar(6));
        },
        [](Maker& m, Scalar v) { return m.function(Function::Tanh, {v * 0.125}); },
        [](Maker& m, Scalar v) { return m.function(Function::Sigmoid, {v * 0.125 + 1.0}); },
        [](Maker& m, Scalar v) { return v * m.residual() + m.by_channel("b"); },
    };
    for (size_t i = 0; i < epilogues.size(); ++i)
        for (size_t c : {1u, 8u, 10u}) {
            SCOPED_TRACE(testing::Message() << "epilogue " << i << " case " << c);
            Maker maker;
            Scalar value = maker.convolution(cases()[c]);
            EXPECT_GT(check_call("onednn_convolution", maker.define(epilogues[i](maker, value))),
                      0u);
        }
}

TEST(Deconvolution, EveryChoiceIsTheMeaning) {
    const std::vector<Case> cases{
        {1, 3, 5, 1, {{9, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}}},
        {2, 16, 32, 1, {{5, 4, 2, 1, 1, 1}, {6, 4, 2, 1, 1, 1}}},
        {1, 8, 1, 1, {{6, 9, 4, 1, 4, 1}, {5, 9, 4, 1, 4, 1}}},
        {1, 5, 7, 1, {{5, 3, 3, 1, 0, 0}, {6, 2, 3, 1, 0, -1}}},
        {1, 4, 3, 1, {{5, 3, 2, 2, 1, 0}, {6, 3, 1, 3, 2, 1}}},
        {2, 6, 4, 1, {{17, 5, 2, 1, 2, 1}}},
        {1, 2, 2, 1, {{3, 3, 2, 1, 1, 1}, {4, 3, 2, 1, 1, 0}, {3, 2, 1, 1, 0, 0}}},
        {1, 2, 3, 4, {{5, 4, 2, 1, 1, 1}, {6, 4, 2, 1, 1, 1}}},
        {1, 1, 1, 8, {{5, 4, 2, 1, 1, 1}, {6, 4, 2, 1, 1, 1}}},
        {1, 3, 1, 4, {{5, 4, 2, 1, 1, 1}, {6, 4, 2, 1, 1, 1}}},
        {1, 7, 3, 1, {{1, 4, 1, 1, 0, 0}, {1, 4, 1, 1, 0, 0}}},
        {1, 7, 3, 1, {{4, 1, 1, 1, 0, 0}, {4, 1, 2, 1, 0, 0}}},
    };
    for (size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(i);
        Maker maker;
        Scalar value = maker.deconvolution(cases[i]);
        EXPECT_GT(check_call("onednn_deconvolution", maker.define(value)), 0u);
    }
}

TEST(Deconvolution, Epilogues) {
    Maker maker;
    Scalar value = maker.deconvolution({2, 16, 32, 1, {{5, 4, 2, 1, 1, 1}, {6, 4, 2, 1, 1, 1}}});
    value = maker.function(Function::Tanh, {(value + maker.by_channel("b")) * 0.0625});
    EXPECT_GT(check_call("onednn_deconvolution", maker.define(value)), 0u);
}

TEST(Pooling, EveryChoiceIsTheMeaning) {
    const std::vector<Case> cases{
        {1, 5, 1, 1, {{9, 3, 2, 1, 1, 1}, {8, 2, 2, 1, 0, 0}}},
        {2, 16, 1, 1, {{7, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}}},
        {2, 17, 1, 1, {{7, 7}, {5, 5}}},
        {2, 3, 1, 1, {{11, 3, 2, 2, 1, 2}}},
        {1, 4, 1, 1, {{4, 2, 2}, {5, 3, 1, 1, 1, 1}, {6, 2, 1}}},
        {1, 16, 1, 1, {{9, 3, 2, 1, 1, -2}, {8, 2, 2, 1, -1, 0}}},
    };
    enum { Maximum, Sum, Mean, MeanInside, Count };
    for (size_t i = 0; i < cases.size(); ++i)
        for (int kind = 0; kind < Count; ++kind) {
            SCOPED_TRACE(testing::Message() << "case " << i << " kind " << kind);
            Maker m;
            const Case& c = cases[i];
            Axis n = m.axis("n", c.images), f = m.axis("c", c.channels);
            Shape shape{c.images, c.channels};
            std::vector<Index> at{m.index(n), m.index(f)};
            std::vector<Axis> reduced;
            Scalar count = m.arena.constant_scalar(1);
            m.result = {n, f};
            for (const Spatial& s : c.spatial) {
                Axis h = m.axis("h", s.slid()), r = m.axis("r", s.kernel);
                m.result.push_back(h);
                reduced.push_back(r);
                shape.push_back(s.input);
                Index first = m.index(h) * s.stride - s.pad_begin;
                at.push_back(first + m.index(r) * s.dilation);
                auto before = [&](int64_t bound) {
                    Index taps = div(-first + (bound + s.dilation - 1), s.dilation);
                    return m.arena.min(m.arena.max(taps, m.arena.constant(0)),
                                       m.arena.constant(s.kernel));
                };
                Index taps = simplify(before(s.input) - before(0), Ranges({h}));
                Scalar factor = kind == MeanInside
                                    ? m.arena.number(taps)
                                    : m.arena.constant_scalar(static_cast<double>(s.kernel));
                count = count * factor;
            }
            double outside = kind == Maximum ? -INFINITY : 0;
            Scalar read = m.arena.read(m.arena.input("a", ElementType::F32, shape), at, outside);
            Scalar value =
                m.arena.reduce(kind == Maximum ? Monoid::Max : Monoid::Sum, reduced, read);
            if (kind == Mean || kind == MeanInside) value = value / count;
            size_t choices = check_call("onednn_pooling", m.define(value));
            bool is_dilated = c.spatial[0].dilation > 1;
            EXPECT_EQ(choices == 0, is_dilated);
        }
}

}  // namespace
}  // namespace ollie::backends::cpu
