#pragma once

#include "operators/meaning/domain.h"

/// Interpolation along one axis, as ONNX's Resize says it.
namespace ollie::operators {

enum class Interpolation { Nearest, Linear, Cubic };

struct ResizedAxis {
    int64_t input = 0;
    int64_t output = 0;
    double scale = 1;
    bool is_resized() const { return output != input || scale != 1; }
};

/// How positions of the result lie over the input, and what is done there.
struct ResizeRule {
    Interpolation interpolation = Interpolation::Nearest;
    std::string coordinates;   ///< half_pixel, asymmetric, align_corners, ...
    std::string nearest_mode;  ///< round_prefer_floor, floor, ...
    double cubic_coefficient = -0.75;
    bool excludes_outside = false;
    bool antialiases = false;
};

/// The input position that each position of the result takes, for Nearest.
std::vector<int64_t> nearest_positions(const ResizeRule&, const ResizedAxis&);

/// Result o is the sum over taps t of weights[o][t] * input[clamp(starts[o] + t)].
struct Taps {
    std::vector<int64_t> starts;
    std::vector<std::vector<double>> weights;
};
Taps interpolating_taps(const ResizeRule&, const ResizedAxis&);

}  // namespace ollie::operators
