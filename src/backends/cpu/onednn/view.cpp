#include "backends/cpu/onednn/view.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "expr/visit.h"

namespace ollie::backends::cpu {

using dnnl::memory;

memory::desc View::desc() const { return memory::desc(dims, memory::data_type::f32, strides); }

memory::desc View::any() const {
    return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
}

Layout argument_layout(const Attributes& attributes, int argument) {
    auto texts = find_strings(attributes, "layouts");
    CHECK(texts && argument < static_cast<int>(texts->size()), "layout of argument {}", argument);
    Layout layout;
    std::istringstream text((*texts)[static_cast<size_t>(argument)]);
    for (int axis; text >> axis;) layout.order.push_back(axis);
    return layout;
}

void put(Attributes& attributes, const std::string& name, const View& view) {
    attributes[name] = view.dims;
    attributes[name + "_strides"] = view.strides;
    if (view.offset != 0) attributes[name + "_offset"] = view.offset;
}

View get_view(const Attributes& attributes, const std::string& name) {
    return {get_ints(attributes, name), get_ints(attributes, name + "_strides"),
            find_int(attributes, name + "_offset").value_or(0)};
}

std::vector<int64_t> get_ints(const Attributes& attributes, const std::string& name) {
    auto value = find_ints(attributes, name);
    CHECK(value, "parameter {} is missing", name);
    return *value;
}

int64_t get_int(const Attributes& attributes, const std::string& name) {
    auto value = find_int(attributes, name);
    CHECK(value, "parameter {} is missing", name);
    return *value;
}

OrRefusal<View> view_of(const expr::Tensor* tensor, const Layout& layout,
                        std::span<const AxisGroup> dims, bool is_channels_last) {
    Shape shape = tensor->shape();
    std::vector<int64_t> strides = layout.strides(shape);
    View view;
    for (const AxisGroup& group : dims) {
        int64_t extent = 1;
        int64_t stride = 0;
        for (auto axis = group.rbegin(); axis != group.rend(); ++axis) {
            if (*axis < 0 || shape[*axis] == 1) continue;
            if (extent == 1)
                stride = strides[*axis];
            else if (strides[*axis] != stride * extent)
                return refuse("axes of {} cannot be taken as one when stored {}", tensor->name,
                              layout.text());
            extent *= shape[*axis];
        }
        view.dims.push_back(extent);
        view.strides.push_back(stride);
    }
    set_unit_strides(view, is_channels_last);
    return view;
}

void set_unit_strides(View& view, bool is_channels_last) {
    std::vector<size_t> order(view.dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (is_channels_last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    int64_t inner = 1;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
        if (view.dims[*d] == 1) view.strides[*d] = inner;
        inner = std::max(inner, view.dims[*d] * view.strides[*d]);
    }
}

Layout simplest(const expr::Tensor* tensor, const Layout& layout) {
    int last = -1;
    for (int axis : layout.order) {
        if (tensor->axes[static_cast<size_t>(axis)].extent() == 1) continue;
        if (axis < last) return layout;
        last = axis;
    }
    return Layout::row_major(tensor->rank());
}

Layout layout_in_order(const expr::Tensor* tensor, std::span<const int> axes) {
    Layout layout;
    for (int axis = 0; axis < static_cast<int>(tensor->rank()); ++axis)
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) layout.order.push_back(axis);
    for (int axis : axes)
        if (axis >= 0) layout.order.push_back(axis);
    return simplest(tensor, layout);
}

bool is_constant(const expr::Tensor* tensor) {
    if (!tensor->is_definition()) return tensor->kind == expr::TensorKind::Weight;
    std::vector<const expr::Tensor*> sources = expr::sources_of(tensor);
    return std::all_of(sources.begin(), sources.end(), is_constant);
}

int ArgumentList::add(const expr::Tensor* tensor, const Layout& layout) {
    auto found = std::find(tensors_.begin(), tensors_.end(), tensor);
    size_t at = static_cast<size_t>(found - tensors_.begin());
    if (found != tensors_.end()) return layouts_[at] == layout ? static_cast<int>(at) : -1;
    tensors_.push_back(tensor);
    layouts_.push_back(layout);
    return static_cast<int>(at);
}

void ArgumentList::move_to(CallChoice& choice) && {
    std::vector<std::string> texts;
    for (const Layout& layout : layouts_) texts.push_back(layout.text());
    choice.parameters["layouts"] = std::move(texts);
    choice.arguments = std::move(tensors_);
    choice.argument_layouts = std::move(layouts_);
}

}  // namespace ollie::backends::cpu
