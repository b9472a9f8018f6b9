#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// Toom and Cook's factorization of a short correlation, transposed: with m outputs, R taps and
/// n = m + R - 1 points,
///
///   sum[r] d[q + r] * k[r] = sum[p] A[q, p] * (sum[j] B[p, j] * d[j])
///                                           * (sum[r] G[p, r] * k[r]) / D[p]
///
/// holds for all d and k. It follows from interpolation of a polynomial of degree n - 1 at n points
/// of the projective line (S. Winograd, "Arithmetic Complexity of Computations", 1980).
namespace ollie::derive {

/// Row-major integers: all but D are exact in float32.
struct ToomCook {
    int64_t outputs = 0;
    int64_t taps = 0;
    int64_t points = 0;
    std::vector<int64_t> output;       ///< A[outputs, points]
    std::vector<int64_t> data;         ///< B[points, points]
    std::vector<int64_t> kernel;       ///< G[points, taps]
    std::vector<int64_t> denominator;  ///< D[points], none is 0.
};

/// More points than that cost too much accuracy; see the points in toom_cook.cpp.
inline constexpr int64_t most_points = 8;

/// Nothing where there are more than `most_points` points or less than 2 outputs or taps.
std::optional<ToomCook> toom_cook(int64_t outputs, int64_t taps);

}  // namespace ollie::derive
