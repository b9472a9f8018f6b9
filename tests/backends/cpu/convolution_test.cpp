#include <functional>

#include "backends/cpu/windows.h"

namespace ollie::backends::cpu {
namespace {

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
        WindowMaker maker;
        Scalar value = maker.convolution(cases()[i]);
        EXPECT_GT(check_call("onednn_convolution", maker.define(value)), 0u);
    }
}

TEST(Convolution, WeightsMayBeInputs) {
    WindowMaker maker;
    Scalar value = maker.convolution(cases()[1], false);
    EXPECT_GT(check_call("onednn_convolution", maker.define(value)), 0u);
}

TEST(Convolution, Epilogues) {
    using Epilogue = std::function<Scalar(WindowMaker&, Scalar)>;
    const std::vector<Epilogue> epilogues{
        [](WindowMaker& m, Scalar v) { return v + m.by_channel("b"); },
        [](WindowMaker& m, Scalar v) { return relu(v + m.by_channel("b")); },
        [](WindowMaker& m, Scalar v) { return relu(v + m.by_channel("b") + m.residual()); },
        [](WindowMaker& m, Scalar v) { return m.residual() + relu(v * m.by_channel("s")); },
        [](WindowMaker& m, Scalar v) { return leaky(v + m.by_channel("b"), m.by_channel("p")); },
        [](WindowMaker& m, Scalar v) { return leaky(v, m.arena.constant_scalar(0.125)); },
        [](WindowMaker& m, Scalar v) {
            return min(max(v * 0.5 + 0.25, m.arena.constant_scalar(0)), m.arena.constant_scalar(6));
        },
        [](WindowMaker& m, Scalar v) { return m.function(Function::Tanh, {v * 0.125}); },
        [](WindowMaker& m, Scalar v) { return m.function(Function::Sigmoid, {v * 0.125 + 1.0}); },
        [](WindowMaker& m, Scalar v) { return v * m.residual() + m.by_channel("b"); },
        [](WindowMaker& m, Scalar v) { return m.function(Function::Exp, {v * 0.125}); },
        [](WindowMaker& m, Scalar v) { return m.function(Function::Abs, {v}); },
        [](WindowMaker& m, Scalar v) {
            return m.function(Function::Sqrt, {m.function(Function::Abs, {v}) + 1.0});
        },
        [](WindowMaker& m, Scalar v) {
            return m.function(Function::Log, {m.function(Function::Abs, {v}) + 1.0});
        },
        [](WindowMaker& m, Scalar v) { return m.function(Function::Softplus, {v * 0.125}); },
    };
    for (size_t i = 0; i < epilogues.size(); ++i)
        for (size_t c : {1u, 8u}) {
            SCOPED_TRACE(testing::Message() << "epilogue " << i << " case " << c);
            WindowMaker maker;
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
        WindowMaker maker;
        Scalar value = maker.deconvolution(cases[i]);
        EXPECT_GT(check_call("onednn_deconvolution", maker.define(value)), 0u);
    }
}

TEST(Deconvolution, Epilogues) {
    WindowMaker maker;
    Scalar value = maker.deconvolution({2, 16, 32, 1, {{5, 4, 2, 1, 1, 1}, {6, 4, 2, 1, 1, 1}}});
    value = maker.function(Function::Tanh, {(value + maker.by_channel("b")) * 0.0625});
    EXPECT_GT(check_call("onednn_deconvolution", maker.define(value)), 0u);
}

/// As a generator of images has them: sums of 8192 terms, more channels than the library sums at
/// once. What a strided one fuses came out wrong, and only at such sizes.
TEST(Deconvolution, ManyChannels) {
    const Case many{1, 512, 256, 1, {{4, 4, 2, 1, 1, 1}, {4, 4, 2, 1, 1, 1}}};
    for (bool is_scaled : {false, true}) {
        WindowMaker m;
        Scalar value = m.deconvolution(many);
        if (is_scaled) value = value * m.by_channel("scale");
        value = relu(value + m.by_channel("shift"));
        EXPECT_EQ(check_call("onednn_deconvolution", m.define(value)), 3u);
    }
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
    for (size_t i = 0; i < cases.size(); ++i)
        for (PoolKind kind :
             {PoolKind::Maximum, PoolKind::Sum, PoolKind::Mean, PoolKind::MeanInside}) {
            SCOPED_TRACE(testing::Message() << "case " << i << " kind " << static_cast<int>(kind));
            WindowMaker maker;
            size_t choices = check_call("onednn_pooling", maker.define(maker.pool(cases[i], kind)));
            bool is_dilated = cases[i].spatial[0].dilation > 1;
            EXPECT_EQ(choices == 0, is_dilated);
        }
}

}  // namespace
}  // namespace ollie::backends::cpu
