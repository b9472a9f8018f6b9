#include "derive/toom_cook.h"

#include <gtest/gtest.h>

namespace ollie::derive {
namespace {

__extension__ typedef __int128 Integer;

/// Coefficient of d[j] * k[r] in output q, times the product of all denominators.
Integer coefficient(const ToomCook& t, int64_t q, int64_t j, int64_t r, Integer common) {
    Integer sum = 0;
    for (int64_t p = 0; p < t.points; ++p)
        sum += common / t.denominator[p] * t.output[q * t.points + p] * t.data[p * t.points + j] *
               t.kernel[p * t.taps + r];
    return sum;
}

TEST(ToomCook, IsTheCorrelationExactly) {
    int cases = 0;
    for (int64_t outputs = 2; outputs <= most_points; ++outputs)
        for (int64_t taps = 2; outputs + taps - 1 <= most_points; ++taps) {
            auto t = toom_cook(outputs, taps);
            ASSERT_TRUE(t);
            Integer common = 1;
            for (int64_t d : t->denominator) {
                ASSERT_NE(d, 0);
                common *= d;
            }
            for (int64_t q = 0; q < outputs; ++q)
                for (int64_t j = 0; j < t->points; ++j)
                    for (int64_t r = 0; r < taps; ++r)
                        EXPECT_TRUE(coefficient(*t, q, j, r, common) ==
                                    (j == q + r ? common : Integer{0}))
                            << outputs << " " << taps << ": " << q << " " << j << " " << r;
            ++cases;
        }
    EXPECT_EQ(cases, 21);
}

TEST(ToomCook, EntriesAreExactInFloat32) {
    for (int64_t outputs = 2; outputs <= most_points; ++outputs)
        for (int64_t taps = 2; outputs + taps - 1 <= most_points; ++taps)
            for (auto matrix : {toom_cook(outputs, taps)->output, toom_cook(outputs, taps)->data})
                for (int64_t entry : matrix) EXPECT_LT(std::abs(entry), int64_t{1} << 24);
}

TEST(ToomCook, RefusesWhatIsTooShortOrTooLong) {
    EXPECT_FALSE(toom_cook(1, 3));
    EXPECT_FALSE(toom_cook(3, 1));
    EXPECT_FALSE(toom_cook(7, 3));
}

}  // namespace
}  // namespace ollie::derive
