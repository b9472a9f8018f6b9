#include "run_kernel.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

namespace ollie::codegen::testing {
namespace {

/// Calls visit(row-major position, stored position) for every element.
template <typename Visit>
void for_each_element(const Shape& shape, const Layout& layout, Visit visit) {
    std::vector<int64_t> strides = layout.strides(shape);
    std::vector<int64_t> point(shape.size(), 0);
    int64_t count = element_count(shape);
    for (int64_t i = 0; i < count; ++i) {
        int64_t at = 0;
        for (size_t d = 0; d < shape.size(); ++d) at += point[d] * strides[d];
        visit(i, at);
        for (size_t d = shape.size(); d-- > 0 && ++point[d] == shape[d];) point[d] = 0;
    }
}

}  // namespace

HostArray stored(const HostArray& logical, const Layout& layout) {
    HostArray result(logical.type(), logical.shape());
    for_each_element(logical.shape(), layout,
                     [&](int64_t from, int64_t to) { result.set(to, logical.at(from)); });
    return result;
}

HostArray logical(const HostArray& stored, const Shape& shape, const Layout& layout) {
    HostArray result(stored.type(), shape);
    for_each_element(shape, layout,
                     [&](int64_t to, int64_t from) { result.set(to, stored.at(from)); });
    return result;
}

Library::Library(const std::vector<std::byte>& code) {
    file_ = memfd_create("kernels", 0);
    CHECK(write(file_, code.data(), code.size()) == static_cast<ssize_t>(code.size()));
    handle_ = dlopen(("/proc/self/fd/" + std::to_string(file_)).c_str(), RTLD_NOW | RTLD_LOCAL);
    CHECK(handle_ != nullptr, "{}", dlerror());
}

Library::~Library() {
    dlclose(handle_);
    close(file_);
}

Library::Entry Library::entry(const std::string& symbol) const {
    void* address = dlsym(handle_, symbol.c_str());
    CHECK(address != nullptr, "no {}", symbol);
    return reinterpret_cast<Entry>(address);
}

HostArray run(const Library& library, const KernelProblem& problem,
              const expr::Bindings& bindings) {
    std::vector<HostArray> arguments;
    std::vector<const expr::Tensor*> tensors = arguments_of(problem.group);
    for (size_t i = 0; i < tensors.size(); ++i) {
        auto bound = bindings.find(tensors[i]->name);
        const HostArray& values = bound != bindings.end() ? *bound->second : *tensors[i]->values;
        arguments.push_back(stored(values, problem.argument_layouts[i]));
    }
    std::vector<void*> pointers;
    for (HostArray& argument : arguments) pointers.push_back(argument.data());
    const expr::Tensor* output = problem.group.outputs[0];
    HostArray result(output->type, output->shape());
    for (int64_t i = 0; i < result.size(); ++i) result.set(i, 77);
    void* results[] = {result.data()};
    CHECK(library.entry(problem.symbol)(pointers.data(), results, nullptr) == 0);
    return logical(result, output->shape(), problem.result_layouts[0]);
}

KernelProblem problem_of(const expr::Expr& group) {
    KernelProblem problem;
    problem.group = group;
    for (const expr::Tensor* argument : arguments_of(group))
        problem.argument_layouts.push_back(Layout::row_major(argument->rank()));
    problem.result_layouts.push_back(Layout::row_major(group.outputs[0]->rank()));
    problem.symbol = "kernel";
    return problem;
}

}  // namespace ollie::codegen::testing
