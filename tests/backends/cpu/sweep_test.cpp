#include "backends/cpu/random_problems.h"
#include "backends/cpu/softmaxes.h"

/// As random_test.cpp, at the sizes of the library's blocks, where kernels change and sums are cut
/// into parts; the slow entry of ctest runs a thousand problems of each call.
namespace ollie::backends::cpu {
namespace {

TEST(Sweep, Convolution) {
    Tally tally = check_random<WindowMaker>("onednn_convolution", some_convolution, block_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 8 / 10);
}

TEST(Sweep, Deconvolution) {
    Tally tally =
        check_random<WindowMaker>("onednn_deconvolution", some_deconvolution, block_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 7 / 10);
}

TEST(Sweep, Pooling) {
    Tally tally = check_random<WindowMaker>("onednn_pooling", some_pool, block_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 7 / 10);
}

TEST(Sweep, Matmul) {
    Tally tally = check_random<ProductMaker>("onednn_matmul", some_product, block_sizes());
    EXPECT_GT(tally.accepted, tally.problems * 8 / 10);
}

TEST(Sweep, Softmax) {
    const std::vector<std::string> axes{"iJ", "Ji", "iJk", "bhiJ", "nChw", "iJK", "J"};
    const Sizes sizes = block_sizes();
    Tally tally;
    for (int seed = 0; seed < problem_count(40) && !HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Random random(static_cast<uint64_t>(seed));
        const std::string& letters = axes[static_cast<size_t>(seed) % axes.size()];
        std::vector<int64_t> extents(letters.size());
        do
            for (int64_t& extent : extents) extent = random.pick(sizes.extents);
        while (element_count(extents) > 500'000);
        expr::Expr problem = softmax(letters, extents, random.one_in(2), false);
        tally.add(check_choices(*find("onednn_softmax"), problem.outputs[0], threads_for(seed)));
    }
    tally.print();
    EXPECT_EQ(tally.accepted, tally.problems);
}

}  // namespace
}  // namespace ollie::backends::cpu
