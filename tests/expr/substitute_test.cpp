#include <gtest/gtest.h>

#include "expr/build.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

TEST(Substitute, AnIteratorByItselfMovedOrScaledIsAChange) {
    Arena arena;
    Iterator i = arena.iterator("i");
    Iterator j = arena.iterator("j");
    Index index = index_of(i) * 3 + index_of(j) + 5;
    EXPECT_EQ(substitute(index, {{i, index_of(i)}}), index);
    EXPECT_EQ(substitute(index, {{i, index_of(i) + 2}}), index_of(i) * 3 + index_of(j) + 11);
    EXPECT_EQ(substitute(index, {{i, index_of(i) * 2}}), index_of(i) * 6 + index_of(j) + 5);
    EXPECT_EQ(substitute(index, {{j, index_of(i)}}), index_of(i) * 4 + 5);
}

TEST(Substitute, ReachesIntoQuotients) {
    Arena arena;
    Iterator i = arena.iterator("i");
    Index index = arena.floor_div(index_of(i) + 1, 4);
    EXPECT_EQ(substitute(index, {{i, index_of(i) - 1}}), arena.floor_div(index_of(i), 4));
    EXPECT_EQ(substitute(index, {}), index);
}

}  // namespace
}  // namespace ollie::expr
