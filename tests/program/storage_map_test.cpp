#include "program/storage_map.h"

#include <gtest/gtest.h>

#include "expr/evaluate.h"
#include "support/program_builder.h"

namespace ollie::program {
namespace {

using ollie::testing::counting;
using ollie::testing::ProgramBuilder;

struct Case {
    const char* meaning;  ///< Of y from x.
    Shape source;
    std::vector<int> source_order;
    Shape target;
    std::vector<int> target_order;
};

ProgramBuilder build(const Case& c) {
    ProgramBuilder builder;
    builder.buffer("x", c.source, Role::Input, c.source_order)
        .buffer("y", c.target, Role::Output, c.target_order)
        .call("copy", {"x"}, {"y"}, c.meaning);
    return builder;
}

HostArray moved(const HostArray& from, const Layout& source, const Layout& target) {
    HostArray result(from.type(), from.shape());
    StridedCopy::between(4, from.shape(), source, target).run(from.data(), result.data());
    return result;
}

/// The map applied to storage gives the meaning's value.
void expect_maps(const Case& c) {
    SCOPED_TRACE(c.meaning);
    ProgramBuilder builder = build(c);
    const Buffer& x = builder.program().buffers[0];
    const Buffer& y = builder.program().buffers[1];
    auto map = storage_map(builder.last(), builder.program());
    ASSERT_TRUE(map.has_value());
    HostArray values = counting(c.source);
    HostArray exact = std::move(expr::evaluate(builder.last().meaning, {{"x", &values}}).front());
    HostArray expected(ElementType::F32, c.target);
    for (int64_t i = 0; i < exact.size(); ++i) expected.set(i, exact.at(i));
    expected = moved(expected, Layout::row_major(c.target.size()), y.layout);
    HostArray stored = moved(values, Layout::row_major(c.source.size()), x.layout);
    HostArray found(ElementType::F32, c.target);
    StridedCopy(4, map->axes).run(stored.as<float>().data() + map->offset, found.data());
    for (int64_t i = 0; i < found.size(); ++i) EXPECT_EQ(found.at(i), expected.at(i)) << i;
}

TEST(StorageMap, WhatOnlyMovesElements) {
    for (const Case& c : std::vector<Case>{
             {"input x: f32[2, 3]\noutput y: f32[i:3, j:2] = x[j, i]", {2, 3}, {}, {3, 2}, {}},
             {"input x: f32[2, 3]\noutput y: f32[i:2, j:3] = x[i, j]", {2, 3}, {1, 0}, {2, 3}, {}},
             {"input x: f32[2, 3, 4]\noutput y: f32[i:24] = x[i div 12, i div 4 mod 3, i mod 4]",
              {2, 3, 4},
              {},
              {24},
              {}},
             {"input x: f32[2, 3, 4]\noutput y: f32[i:24] = x[i div 12, i div 4 mod 3, i mod 4]",
              {2, 3, 4},
              {2, 0, 1},
              {24},
              {}},
             {"input x: f32[24]\noutput y: f32[i:2, j:3, k:4] = x[12 * i + 4 * j + k]",
              {24},
              {},
              {2, 3, 4},
              {0, 2, 1}},
             {"input x: f32[6, 4]\noutput y: f32[i:3, j:8] = x[2 * i + j div 4, j mod 4]",
              {6, 4},
              {1, 0},
              {3, 8},
              {1, 0}},
             {"input x: f32[4, 6]\noutput y: f32[i:8, j:3] = x[i div 2, 3 * (i mod 2) + j]",
              {4, 6},
              {1, 0},
              {8, 3},
              {}},
             {"input x: f32[7]\noutput y: f32[i:3] = x[2 * i + 1]", {7}, {}, {3}, {}},
             {"input x: f32[5]\noutput y: f32[i:5] = x[4 - i]", {5}, {}, {5}, {}},
             {"input x: f32[3]\noutput y: f32[i:2, j:3] = x[j]", {3}, {}, {2, 3}, {}},
             {"input x: f32[1, 1]\noutput y: f32[] = x[0, 0]", {1, 1}, {}, {}, {}},
             {"input x: f32[0, 2]\noutput y: f32[i:2, j:0] = x[j, i]", {0, 2}, {}, {2, 0}, {}}})
        expect_maps(c);
}

TEST(StorageMap, WhatDoesMore) {
    for (const Case& c : std::vector<Case>{
             {"input x: f32[3]\noutput y: f32[i:3] = -x[i]", {3}, {}, {3}, {}},
             {"input x: f32[3]\noutput y: f32[i:4] = x[i - 1 | 0]", {3}, {}, {4}, {}},
             {"input x: f32[3]\noutput y: f32[i:3] = x[{2, 0, 1}[i]]", {3}, {}, {3}, {}},
             {"input x: f32[3]\noutput y: f32[i:3] = x[min(i, 1)]", {3}, {}, {3}, {}},
             {"input x: f32[5]\noutput y: f32[i:5] = x[i div 2]", {5}, {}, {5}, {}}}) {
        SCOPED_TRACE(c.meaning);
        ProgramBuilder builder = build(c);
        EXPECT_FALSE(storage_map(builder.last(), builder.program()).has_value());
        EXPECT_FALSE(keeps_storage(builder.last(), builder.program()));
    }
}

TEST(StorageMap, WhatKeepsStorage) {
    auto keeps = [](const Case& c) {
        ProgramBuilder builder = build(c);
        return keeps_storage(builder.last(), builder.program());
    };
    const char* transposed = "input x: f32[2, 3]\noutput y: f32[i:3, j:2] = x[j, i]";
    EXPECT_FALSE(keeps({transposed, {2, 3}, {}, {3, 2}, {}}));
    EXPECT_TRUE(keeps({transposed, {2, 3}, {}, {3, 2}, {1, 0}}));
    EXPECT_TRUE(keeps({transposed, {2, 3}, {1, 0}, {3, 2}, {}}));
    const char* part = "input x: f32[3]\noutput y: f32[i:2] = x[i]";
    EXPECT_FALSE(keeps({part, {3}, {}, {2}, {}}));
    const char* repeated = "input x: f32[2]\noutput y: f32[i:2, j:2] = x[i]";
    EXPECT_FALSE(keeps({repeated, {2}, {}, {2, 2}, {}}));
    const char* flat = "input x: f32[2, 3]\noutput y: f32[i:6] = x[i div 3, i mod 3]";
    EXPECT_TRUE(keeps({flat, {2, 3}, {}, {6}, {}}));
    EXPECT_FALSE(keeps({flat, {2, 3}, {1, 0}, {6}, {}}));
}

}  // namespace
}  // namespace ollie::program
