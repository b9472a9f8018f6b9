#include "derive/toom_cook.h"

#include <cstddef>
#include <numeric>

namespace ollie::derive {
namespace {

/// A point x / z of the projective line; z = 0 is infinity.
struct Point {
    int64_t x, z;
};

/// Chosen for small errors in float32: near 1 in size, in pairs of opposite sign and reciprocals.
std::vector<Point> points_for(int64_t taps, int64_t count) {
    std::vector<Point> points{{0, 1}};
    switch (count) {
        case 3:
            points.insert(points.end(), {{1, 1}});
            break;
        case 4:
            points.insert(points.end(), {{1, 1}, {-1, 1}});
            break;
        case 5:
            if (taps == 4)
                points.insert(points.end(), {{1, 1}, {-1, 2}, {-2, 1}});
            else
                points.insert(points.end(), {{1, 1}, {-2, 3}, {-3, 2}});
            break;
        case 6:
            points.insert(points.end(), {{2, 3}, {-2, 3}, {3, 2}, {-3, 2}});
            break;
        case 7:
            points.insert(points.end(), {{1, 1}, {1, 2}, {2, 1}, {-3, 4}, {-4, 3}});
            break;
        default:
            points.insert(points.end(), {{1, 1}, {-1, 1}, {1, 2}, {-1, 2}, {2, 1}, {-2, 1}});
            break;
    }
    points.push_back({1, 0});
    return points;
}

int64_t power(int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (int64_t i = 0; i < exponent; ++i) result *= base;
    return result;
}

/// Coefficients, from x^0 on, of the product over the other points k of (z_k x - x_k z).
std::vector<int64_t> vanishing_elsewhere(const std::vector<Point>& points, size_t at) {
    std::vector<int64_t> product{1};
    for (size_t k = 0; k < points.size(); ++k) {
        if (k == at) continue;
        std::vector<int64_t> next(product.size() + 1, 0);
        for (size_t i = 0; i < product.size(); ++i) {
            next[i] -= points[k].x * product[i];
            next[i + 1] += points[k].z * product[i];
        }
        product = std::move(next);
    }
    return product;
}

/// The common divisor of the row goes to the other side.
int64_t reduce(std::vector<int64_t>& row) {
    int64_t divisor = 0;
    for (int64_t value : row) divisor = std::gcd(divisor, value);
    for (int64_t& value : row) value /= divisor;
    return divisor;
}

}  // namespace

std::optional<ToomCook> toom_cook(int64_t outputs, int64_t taps) {
    int64_t count = outputs + taps - 1;
    if (outputs < 2 || taps < 2 || count > most_points) return std::nullopt;
    std::vector<Point> points = points_for(taps, count);
    ToomCook result{outputs, taps, count, {}, {}, {}, {}};
    for (int64_t q = 0; q < outputs; ++q)
        for (const Point& point : points)
            result.output.push_back(power(point.x, q) * power(point.z, outputs - 1 - q));
    for (size_t p = 0; p < points.size(); ++p) {
        std::vector<int64_t> row = vanishing_elsewhere(points, p);
        int64_t at_point = 0;
        for (size_t i = 0; i < row.size(); ++i)
            at_point += row[i] * power(points[p].x, static_cast<int64_t>(i)) *
                        power(points[p].z, count - 1 - static_cast<int64_t>(i));
        result.denominator.push_back(at_point / reduce(row));
        result.data.insert(result.data.end(), row.begin(), row.end());
        for (int64_t r = 0; r < taps; ++r)
            result.kernel.push_back(power(points[p].x, r) * power(points[p].z, taps - 1 - r));
    }
    return result;
}

}  // namespace ollie::derive
