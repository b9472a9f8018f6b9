#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"
#include "expr/simplify.h"

namespace ollie::expr {
namespace {

TEST(Normalize, PinnedRangesAreShiftedAndNothingElse) {
    // Unpinned, T would lose the columns that are not read and its unit axis.
    Expr before = parse(
        "input A: f32[9, 4]\n"
        "pinned T: f32[h:-1..12, c:4, n:1] = A[h, c | 0]\n"
        "output Y: f32[h:6] = T[h - 1, 2, 0]\n");
    Expr after = parse(
        "input A: f32[9, 4]\n"
        "pinned T: f32[h:13, c:4, n:1] = A[h - 1, c | 0]\n"
        "output Y: f32[h:6] = T[h, 2, 0]\n");
    EXPECT_EQ(print(normalize(before)), print(after));
    EXPECT_EQ(print(normalize(normalize(before))), print(after));
}

}  // namespace
}  // namespace ollie::expr
