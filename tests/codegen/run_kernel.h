#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "expr/evaluate.h"

/// Kernels run right after they are compiled.
namespace ollie::codegen::testing {

/// The values stored in the layout, and back.
HostArray stored(const HostArray& logical, const Layout&);
HostArray logical(const HostArray& stored, const Shape&, const Layout&);

/// Shared object held in memory.
class Library {
public:
    explicit Library(const std::vector<std::byte>& code);
    ~Library();
    using Entry = int (*)(void* const*, void* const*, void*);
    Entry entry(const std::string& symbol) const;

private:
    int file_;
    void* handle_;
};

/// Result of the problem's kernel in logical order.
HostArray run(const Library&, const KernelProblem&, const expr::Bindings&);

/// Row-major throughout, the schedule to be set.
KernelProblem problem_of(const expr::Expr& group);

}  // namespace ollie::codegen::testing
