#pragma once

#include "backends/cpu/onednn/instance.h"

/// An epilogue as a primitive of its own, in place on a result: where the library's fused ones are
/// wrong or slow.
namespace ollie::backends::cpu {

dnnl::binary::primitive_desc following(const View& result, const Epilogue&, const dnnl::engine&);

/// Makes it the next that the instance runs, on its result 0.
void add_following(OneDnnInstance&, const View& result, const Epilogue&);

}  // namespace ollie::backends::cpu
