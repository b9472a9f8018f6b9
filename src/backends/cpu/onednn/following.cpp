#include "backends/cpu/onednn/following.h"

namespace ollie::backends::cpu {
namespace {

/// What is added first: the bias or, if there is none, zero.
View first_view(const View& result, const Epilogue& epilogue) {
    View view{std::vector<int64_t>(result.dims.size(), 1),
              std::vector<int64_t>(result.dims.size(), 1)};
    if (epilogue.bias_argument) view.dims[1] = result.dims[1];
    set_unit_strides(view);
    return view;
}

}  // namespace

dnnl::binary::primitive_desc following(const View& result, const Epilogue& epilogue,
                                       const dnnl::engine& engine) {
    return {engine,        dnnl::algorithm::binary_add,
            result.desc(), first_view(result, epilogue).desc(),
            result.desc(), attribute_of(epilogue)};
}

void add_following(OneDnnInstance& instance, const View& result, const Epilogue& epilogue) {
    auto primitive =
        descriptor_or_fail([&] { return following(result, epilogue, instance.engine()); });
    View first = first_view(result, epilogue);
    instance.bind_result(DNNL_ARG_SRC_0, 0, result);
    if (epilogue.bias_argument)
        instance.bind(DNNL_ARG_SRC_1, *epilogue.bias_argument, first, first.desc());
    else
        instance.bind_zeros(DNNL_ARG_SRC_1, first);
    instance.bind(epilogue);
    instance.bind_result(DNNL_ARG_DST, 0, result);
    instance.finish(dnnl::binary(primitive), primitive.scratchpad_desc(),
                    primitive.impl_info_str());
}

}  // namespace ollie::backends::cpu
