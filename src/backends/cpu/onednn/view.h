#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "backends/call.h"
#include "base/attributes.h"

/// How buffers are seen by oneDNN, and how that is kept in the parameters of a step.
namespace ollie::backends::cpu {

/// A strided tensor inside a buffer, in oneDNN's order of dimensions; in elements.
struct View {
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    int64_t offset = 0;

    dnnl::memory::desc desc() const;
    /// The same dimensions in whatever format the library likes.
    dnnl::memory::desc any() const;
};

/// The layout of a step's argument, from the parameter `layouts`.
Layout argument_layout(const Attributes&, int argument);

/// Kept as NAME, NAME_strides and, if not 0, NAME_offset.
void put(Attributes&, const std::string& name, const View&);
View get_view(const Attributes&, const std::string& name);
std::vector<int64_t> get_ints(const Attributes&, const std::string& name);
int64_t get_int(const Attributes&, const std::string& name);

/// An axis of a view: some axes of a tensor taken as one, the last the fastest. An axis of -1 has
/// extent 1.
using AxisGroup = std::vector<int>;

/// The view of a tensor stored in `layout` whose dimensions are these groups; a group whose axes do
/// not nest is refused.
OrRefusal<View> view_of(const expr::Tensor*, const Layout&, std::span<const AxisGroup> dims,
                        bool is_channels_last = false);

/// Gives unit dimensions the strides that they would have in a dense tensor whose dimensions come
/// in order, or whose second one comes last: the library tells formats apart by strides alone.
void set_unit_strides(View&, bool is_channels_last = false);

/// The storage order in which the axes (-1: none) come in this order, outermost first; axes that
/// are not named come before them. Row-major where that is the same storage, since unit axes may be
/// anywhere.
Layout layout_in_order(const expr::Tensor*, std::span<const int> axes);
Layout simplest(const expr::Tensor*, const Layout&);

/// A tensor whose values are known before the program runs: a weight, or defined by weights alone.
bool is_constant(const expr::Tensor*);

/// The arguments of a choice. A tensor that is used twice is one argument, and has one layout.
class ArgumentList {
public:
    /// Position of the tensor in the list, or -1 if it is there with another layout.
    int add(const expr::Tensor*, const Layout&);
    /// Fills in the choice's arguments and layouts; the latter also as the parameter `layouts`.
    void move_to(CallChoice&) &&;

private:
    std::vector<const expr::Tensor*> tensors_;
    std::vector<Layout> layouts_;
};

}  // namespace ollie::backends::cpu
