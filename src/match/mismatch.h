#pragma once

#include <vector>

#include "match/form.h"

namespace ollie::match {

Mismatch no_reduction();

/// What no call can do, whatever its pattern: types other than f32, ranges that do not begin at 0.
void add_common_mismatches(const expr::Tensor* definition, const Form&, std::vector<Mismatch>&);

}  // namespace ollie::match
