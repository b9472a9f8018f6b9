#pragma once

#include <cstdint>

#include "optimize/region.h"
#include "tensor/host_array.h"

namespace ollie::optimize {

/// max |y - y64| / max |y64| over regions; infinite where just one of two values is not finite.
/// What float32 cannot hold counts as infinite.
class Deviation {
public:
    /// `exact` has the region alone.
    void add(const HostArray& actual, const HostArray& exact, const Region&);

    double of_scale() const;
    /// Row-major index in the whole.
    int64_t worst() const { return worst_; }

private:
    void add(double want, double have, int64_t element);

    double scale_ = 0;
    double difference_ = 0;
    int64_t worst_ = 0;
};

/// Both NaN, both the same infinity or both finite.
bool same_class(double x, double y);

}  // namespace ollie::optimize
