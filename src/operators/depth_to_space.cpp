#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

bool is_column_row_depth(const Context& context) {
    std::string mode = context.string_attribute("mode", "DCR");
    if (mode != "DCR" && mode != "CRD")
        context.fail(fmt::format("attribute mode is \"{}\", expected DCR or CRD", mode));
    return mode == "CRD";
}

Results to_space(const Context& context, const Tensor* x, int64_t block) {
    Shape shape = x->shape();
    int64_t square = block * block;
    if (shape[1] % square != 0)
        context.fail(fmt::format("{} channels cannot fill blocks of {}", shape[1], square));
    int64_t channels = shape[1] / square;
    std::vector<Axis> axes =
        axes_of(context.arena, {shape[0], channels, shape[2] * block, shape[3] * block});
    std::vector<Index> at = indices_of(axes);
    Index phase = mod(at[2], block) * block + mod(at[3], block);
    at[1] = is_column_row_depth(context) ? at[1] * square + phase : phase * channels + at[1];
    at[2] = div(at[2], block);
    at[3] = div(at[3], block);
    return {context.define(0, x->type, axes, read(x, at))};
}

Results to_depth(const Context& context, const Tensor* x, int64_t block) {
    Shape shape = x->shape();
    if (shape[2] % block != 0 || shape[3] % block != 0)
        context.fail(
            fmt::format("extents {}x{} are no multiples of {}", shape[2], shape[3], block));
    int64_t square = block * block;
    std::vector<Axis> axes =
        axes_of(context.arena, {shape[0], shape[1] * square, shape[2] / block, shape[3] / block});
    std::vector<Index> at = indices_of(axes);
    bool is_crd = is_column_row_depth(context);
    Index phase = is_crd ? mod(at[1], square) : div(at[1], shape[1]);
    at[1] = is_crd ? div(at[1], square) : mod(at[1], shape[1]);
    at[2] = at[2] * block + div(phase, block);
    at[3] = at[3] * block + mod(phase, block);
    for (Index& index : at) index = simplify(index, Ranges(axes));
    return {context.define(0, x->type, axes, read(x, at))};
}

Results express(const Context& context) {
    const Tensor* x = context.input(0);
    require_rank(context, x, 4, 4);
    int64_t block = context.int_attribute("blocksize", 0);
    if (block < 1) context.fail("attribute blocksize must be 1 or more");
    return context.node.operator_name == "DepthToSpace" ? to_space(context, x, block)
                                                        : to_depth(context, x, block);
}

}  // namespace

extern const Operator depth_to_space{
    "DepthToSpace",
    {"SpaceToDepth"},
    1,
    "channels to blocks of the image, or back",
    {{"blocksize", "required"}, {"mode", "DCR (default) or CRD: order within the channels"}},
    express};

}  // namespace ollie::operators::entries
