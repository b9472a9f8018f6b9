#pragma once

#include "expr/node.h"
#include "match/pattern.h"

/// Costs before measurement, from the machine's measured peaks.
namespace ollie::search {

/// Operations (a multiplication and an addition are two) to compute every element once.
double operations(const expr::Tensor* definition);
/// Bytes of all that the group reads from outside plus its last definition.
double traffic(const std::vector<const expr::Tensor*>& group);
/// Seconds to move the bytes at the speed of the fastest level that can hold them.
double transfer_seconds(double bytes, const match::Machine&);
/// Seconds of a generated kernel for the group: start, and the larger of traffic and arithmetic.
double kernel_seconds(const std::vector<const expr::Tensor*>& group, const match::Machine&);
/// A lower bound for any way to compute the definition: its compulsory traffic, or its
/// multiplications at peak, those of a window divided by its taps, since a rule may remove them.
double floor_seconds(const expr::Tensor* definition, const match::Machine&);

}  // namespace ollie::search
