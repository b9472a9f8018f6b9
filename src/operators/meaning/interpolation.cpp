#include "operators/meaning/interpolation.h"

#include <algorithm>
#include <cmath>

namespace ollie::operators {
namespace {

double coordinate(const ResizeRule& rule, const ResizedAxis& axis, int64_t position) {
    const std::string& mode = rule.coordinates;
    double x = static_cast<double>(position);
    double input = static_cast<double>(axis.input);
    double output = static_cast<double>(axis.output);
    if (mode == "asymmetric") return x / axis.scale;
    if (mode == "align_corners") return output == 1 ? 0 : x * (input - 1) / (output - 1);
    if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
    if (mode == "pytorch_half_pixel" && output == 1) return 0;
    double half_pixel = (x + 0.5) / axis.scale - 0.5;
    if (mode != "half_pixel_symmetric") return half_pixel;
    return input / 2 * (1 - output / (axis.scale * input)) + half_pixel;
}

double rounded(const std::string& mode, double x) {
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

/// Keys' cubic kernel.
double cubic(double x, double a) {
    x = std::abs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

double kernel(const ResizeRule& rule, double x) {
    if (rule.interpolation == Interpolation::Cubic) return cubic(x, rule.cubic_coefficient);
    return std::max(1 - std::abs(x), 0.0);
}

}  // namespace

std::vector<int64_t> nearest_positions(const ResizeRule& rule, const ResizedAxis& axis) {
    std::vector<int64_t> result;
    for (int64_t o = 0; o < axis.output; ++o) {
        double position = rounded(rule.nearest_mode, coordinate(rule, axis, o));
        result.push_back(std::clamp<int64_t>(static_cast<int64_t>(position), 0, axis.input - 1));
    }
    return result;
}

Taps interpolating_taps(const ResizeRule& rule, const ResizedAxis& axis) {
    double stretch = rule.antialiases ? std::min(axis.scale, 1.0) : 1;
    double radius = rule.interpolation == Interpolation::Cubic ? 2 : 1;
    int64_t before = static_cast<int64_t>(std::ceil(radius / stretch)) - 1;
    int64_t count = 2 * (before + 1);
    Taps taps;
    for (int64_t o = 0; o < axis.output; ++o) {
        double position = coordinate(rule, axis, o);
        int64_t start = static_cast<int64_t>(std::floor(position)) - before;
        std::vector<double> weights;
        double total = 0;
        for (int64_t t = 0; t < count; ++t) {
            double distance = static_cast<double>(start + t) - position;
            bool is_outside = start + t < 0 || start + t >= axis.input;
            bool counts = !is_outside || !rule.excludes_outside;
            weights.push_back(counts ? kernel(rule, distance * stretch) : 0);
            total += weights.back();
        }
        if (rule.antialiases || rule.excludes_outside)
            for (double& weight : weights) weight /= total;
        taps.starts.push_back(start);
        taps.weights.push_back(std::move(weights));
    }
    return taps;
}

}  // namespace ollie::operators
