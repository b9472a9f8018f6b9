#include "expr/range.h"

#include <gtest/gtest.h>

#include "expr/build.h"

namespace ollie::expr {
namespace {

TEST(Range, TheMiddleDigitOfAFlatIndex) {
    Arena arena;
    Axis axis{arena.iterator("i"), 0, 24};
    Index i = index_of(axis.iterator);
    Ranges ranges({axis});
    EXPECT_EQ(interval_of(mod(div(i, 4), 3), ranges), (Interval{0, 2}));
    EXPECT_EQ(interval_of(mod(div(i, 12), 2), ranges), (Interval{0, 1}));
    EXPECT_EQ(interval_of(mod(i, 4) + mod(div(i, 4), 3) * 4, ranges), (Interval{0, 11}));
}

}  // namespace
}  // namespace ollie::expr
