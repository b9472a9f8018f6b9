#include "optimize/deviation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ollie::optimize {
namespace {

/// What float32 can hold of the value.
double in_range(double value) {
    return std::abs(value) > std::numeric_limits<float>::max() ? std::copysign(HUGE_VAL, value)
                                                               : value;
}

}  // namespace

void Deviation::add(const HostArray& actual, const HostArray& exact, const Region& region) {
    region.for_each(actual.shape(), [&](int64_t inside, int64_t whole) {
        add(in_range(exact.at(inside)), actual.at(whole), whole);
    });
}

double Deviation::of_scale() const {
    if (difference_ == 0) return 0;
    return scale_ > 0 ? difference_ / scale_ : HUGE_VAL;
}

void Deviation::add(double want, double have, int64_t element) {
    double apart = std::abs(want - have);
    if (std::isnan(want) && std::isnan(have)) apart = 0;
    if (want == have) apart = 0;
    if (std::isnan(apart)) apart = HUGE_VAL;
    if (std::isfinite(want)) scale_ = std::max(scale_, std::abs(want));
    if (apart <= difference_) return;
    difference_ = apart;
    worst_ = element;
}

bool same_class(double x, double y) {
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return x == y;
    return true;
}

}  // namespace ollie::optimize
