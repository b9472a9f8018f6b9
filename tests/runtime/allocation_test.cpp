#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "runtime/compile_c.h"
#include "runtime/session.h"
#include "support/program_builder.h"

namespace {

std::atomic<int64_t> allocations{0};

void* counted(std::size_t bytes) {
    ++allocations;
    void* memory = std::malloc(bytes > 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace ollie::runtime {
namespace {

TEST(Session, RunAllocatesNothing) {
    testing::ProgramBuilder builder;
    builder.input("X", {2, 64, 40, 40})
        .scratch("S", {2, 64, 40, 40}, {0, 2, 3, 1})
        .scratch("T", {2, 64, 40, 40}, {0, 2, 3, 1})
        .output("Y", {2, 64, 40, 40})
        .output("Z", {2, 64, 40, 40});
    auto same = [](const char* from, const char* to) {
        return fmt::format(
            "input {0}: f32[2, 64, 40, 40]\n"
            "output {1}: f32[n:2, c:64, h:40, w:40] = {0}[n, c, h, w]",
            from, to);
    };
    builder.call("copy", {"X"}, {"S"}, same("X", "S"))
        .kernel("add", {"S"}, {"T"}, same("S", "T"))
        .call("copy", {"T"}, {"Y"}, same("T", "Y"))
        .call("alias", {"X"}, {"Z"}, same("X", "Z"));
    builder.program().code = testing::compile_c(
        "int add(void* const* a, void* const* r, void* c) {"
        "  for (int i = 0; i < 204800; ++i) ((float*)r[0])[i] = ((const float*)a[0])[i];"
        "  return 0; }");
    Session session(builder.share());
    HostArray x = testing::counting({2, 64, 40, 40});
    HostArray y(x.type(), x.shape());
    HostArray z(x.type(), x.shape());
    const void* inputs[] = {x.data()};
    void* outputs[] = {y.data(), z.data()};
    session.run(inputs, outputs);
    int64_t before = allocations;
    EXPECT_GT(before, 0);
    for (int i = 0; i < 10; ++i) session.run(inputs, outputs);
    EXPECT_EQ(allocations - before, 0);
    EXPECT_EQ(y.at(204799), 204799);
    EXPECT_EQ(z.at(204799), 204799);
}

}  // namespace
}  // namespace ollie::runtime
