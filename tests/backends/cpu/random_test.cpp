#include "backends/cpu/random_problems.h"

/// Many random problems of odd sizes: every choice of every call gives what the evaluator gives.
namespace ollie::backends::cpu {
namespace {

TEST(Random, Convolution) {
    Tally tally = check_random<WindowMaker>("onednn_convolution", some_convolution, odd_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 8 / 10);
    EXPECT_GT(tally.exact, tally.choices / 2);
}

TEST(Random, Deconvolution) {
    Tally tally =
        check_random<WindowMaker>("onednn_deconvolution", some_deconvolution, odd_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 6 / 10);
}

TEST(Random, Pooling) {
    Tally tally = check_random<WindowMaker>("onednn_pooling", some_pool, odd_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 6 / 10);
}

TEST(Random, Matmul) {
    Tally tally = check_random<ProductMaker>("onednn_matmul", some_product, odd_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 8 / 10);
}

bool is_refused(const std::string& call, const Tensor* definition) {
    for (const match::Binding& binding : bindings_of(*find(call), definition))
        if (find(call)->choices(binding)) return false;
    return true;
}

/// Nothing is left to the library where there is nothing to compute.
TEST(Empty, WindowsAreRefused) {
    for (int which = 0; which < 4; ++which) {
        SCOPED_TRACE(which);
        Case c{2, 3, 5, 1, {{7, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}}};
        if (which == 0) c.images = 0;
        if (which == 1) c.channels = 0;
        if (which == 2) c.filters = 0;
        if (which == 3) c.spatial[0] = {0, 3, 1, 1, 2, 2};
        WindowMaker m, transposed, pool;
        EXPECT_TRUE(is_refused("onednn_convolution", m.define(m.convolution(c))));
        if (which != 2) {
            EXPECT_TRUE(is_refused("onednn_pooling", pool.define(pool.pool(c, PoolKind::Maximum))));
        }
        if (which == 3) c.spatial[0] = {0, 3, 1, 1, -2, -2};
        EXPECT_TRUE(
            is_refused("onednn_deconvolution", transposed.define(transposed.deconvolution(c))));
    }
}

TEST(Empty, ProductsAreRefused) {
    for (char empty : std::string("bijk")) {
        SCOPED_TRACE(empty);
        Contraction c{"bij", "bik", "bkj", {{'b', 2}, {'i', 3}, {'j', 5}, {'k', 7}}};
        c.extents[empty] = 0;
        ProductMaker maker;
        EXPECT_TRUE(is_refused("onednn_matmul", maker.define(maker.product(c))));
    }
}

}  // namespace
}  // namespace ollie::backends::cpu
