#include "optimize/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/evaluate.h"
#include "expr/parse.h"
#include "expr/verify.h"
#include "expr/visit.h"

namespace ollie::optimize {
namespace {

using expr::Bindings;
using expr::Expr;

/// Windows that leave their source on both sides, a stride, a pooled output and one that is read.
const char* windows =
    "input x: f32[4, 3, 17]\ninput k: f32[5, 3, 4]\n"
    "t: f32[n:4, f:5, h:-1..18] = sum[c:3, r:4] x[n, c, h + r - 2 | 0] * k[f, c, r]\n"
    "u: f32[n:4, f:5, h:8] = max[r:3] t[n, f, 2 * h + r | -inf]\n"
    "output y: f32[n:4, h:8] = sum[f:5] u[n, f, h]\n"
    "output z: f32[n:4, f:5] = sum[h:9] u[n, f, h div 2]\n";

HostArray counted(const Shape& shape) {
    HostArray array(ElementType::F32, shape);
    for (int64_t i = 0; i < array.size(); ++i) array.set(i, static_cast<double>(i * 37 % 101) - 50);
    return array;
}

void expect_part(const HostArray& part, const HostArray& whole, const Region& region) {
    ASSERT_EQ(part.size(), region.size());
    int64_t visited = 0;
    region.for_each(whole.shape(), [&](int64_t inside, int64_t element) {
        EXPECT_EQ(part.at(inside), whole.at(element)) << inside;
        ++visited;
    });
    EXPECT_EQ(visited, region.size());
}

void expect_parts_of_whole(const Expr& whole, const std::vector<Region>& regions) {
    HostArray x = counted({4, 3, 17});
    HostArray k = counted({5, 3, 4});
    Bindings inputs{{"x", &x}, {"k", &k}};
    Expr parts = restricted(whole, regions);
    expr::verify(parts);
    std::vector<HostArray> all = expr::evaluate(whole, inputs);
    std::vector<HostArray> some = expr::evaluate(parts, inputs);
    ASSERT_EQ(some.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) expect_part(some[i], all[i], regions[i]);
}

TEST(Region, RestrictedIsPartOfTheWhole) {
    Expr whole = expr::parse(windows);
    expect_parts_of_whole(whole, {{{0, 0}, {4, 8}}, {{0, 0}, {4, 5}}});
    expect_parts_of_whole(whole, {{{0, 0}, {1, 2}}, {{0, 0}, {1, 1}}});
    expect_parts_of_whole(whole, {{{2, 5}, {2, 3}}, {{3, 4}, {1, 1}}});
    expect_parts_of_whole(whole, {{{1, 3}, {1, 1}}, {{2, 1}, {2, 3}}});
}

TEST(Region, RestrictedComputesOnlyWhatIsRead) {
    Expr whole = expr::parse(
        "input x: f32[40]\nt: f32[i:40] = x[i] * x[i]\n"
        "output y: f32[i:38] = t[i] + t[i + 2]\n");
    Expr part = restricted(whole, {{{10}, {3}}});
    const expr::Tensor* t = nullptr;
    for (const expr::Tensor* source : expr::tensors_of(part))
        if (source->name == "t") t = source;
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->shape(), Shape{5});
}

TEST(Region, SamplesFromBothEndsAndTheMiddleWithinTheCost) {
    Expr whole = expr::parse(windows);
    double all = operations(whole);
    EXPECT_EQ(sampled_regions(whole, all).size(), 1u);
    std::vector<std::vector<Region>> sampled = sampled_regions(whole, all / 2);
    ASSERT_EQ(sampled.size(), 3u);
    for (const std::vector<Region>& regions : sampled)
        EXPECT_LE(operations(restricted(whole, regions)), all / 4);
    for (size_t k = 0; k < whole.outputs.size(); ++k) {
        Shape shape = whole.outputs[k]->shape();
        for (size_t i = 0; i < shape.size(); ++i) {
            EXPECT_EQ(sampled[0][k].first[i], 0);
            EXPECT_EQ(sampled[1][k].first[i] + sampled[1][k].extent[i], shape[i]);
        }
        expect_parts_of_whole(whole, sampled[k]);
    }
}

TEST(Region, OutputsThatAreReadOrInputsStayWhole) {
    Expr whole = expr::parse(
        "input x: f32[64]\noutput t: f32[i:64] = x[i] * 2\n"
        "output y: f32[i:64] = t[i] + t[63 - i]\n");
    for (const std::vector<Region>& regions : sampled_regions(whole, 60)) {
        EXPECT_EQ(regions[0].extent, std::vector<int64_t>{64});
        EXPECT_EQ(regions[1].extent, std::vector<int64_t>{1});
    }
}

}  // namespace
}  // namespace ollie::optimize
