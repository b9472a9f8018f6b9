#include "tensor/host_array.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace ollie {
namespace {

const std::vector<ElementType> all_types{ElementType::F32, ElementType::F64, ElementType::I8,
                                         ElementType::I16, ElementType::I32, ElementType::I64,
                                         ElementType::U8,  ElementType::U16, ElementType::U32,
                                         ElementType::U64, ElementType::Bool};

TEST(HostArray, StartsAtZeroAndAligned) {
    for (ElementType type : all_types)
        for (int64_t extent : {1, 2, 63, 64, 65, 1009}) {
            HostArray array(type, {extent});
            EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0u);
            EXPECT_EQ(array.bytes(), extent * size_of(type));
            for (int64_t i = 0; i < extent; ++i) EXPECT_EQ(array.at(i), 0);
        }
}

TEST(HostArray, ScalarsHaveOneElementAndEmptyOnesNone) {
    EXPECT_EQ(HostArray(ElementType::F32, {}).size(), 1);
    EXPECT_EQ(HostArray(ElementType::F32, {3, 0, 5}).size(), 0);
    EXPECT_EQ(HostArray().size(), 0);
    EXPECT_TRUE(HostArray(ElementType::F32, {0}).as<float>().empty());
    EXPECT_THROW(HostArray(ElementType::F32, {0}).at(0), InternalError);
}

TEST(HostArray, WhatCannotFitIsRefusedRatherThanWrapped) {
    EXPECT_THROW(HostArray(ElementType::F64, {1ll << 40, 1ll << 40}), std::bad_alloc);
    EXPECT_EQ(HostArray(ElementType::F64, {1ll << 40, 1ll << 40, 0}).size(), 0);
    EXPECT_THROW(HostArray(ElementType::F64, {-1}), InternalError);
}

TEST(HostArray, SetAndAtAgreeOnSmallValuesOfAllTypes) {
    for (ElementType type : all_types) {
        HostArray array(type, {2, 3});
        for (int64_t i = 0; i < 6; ++i) array.set(i, static_cast<double>(i % 2));
        for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(array.at(i), i % 2) << name_of(type);
    }
}

TEST(HostArray, IntegersRoundToNearestAndWrap) {
    HostArray bytes(ElementType::I8, {5});
    const double values[] = {2.5, 3.5, 200, -129, 1e30};
    for (int64_t i = 0; i < 5; ++i) bytes.set(i, values[i]);
    EXPECT_EQ(bytes.int_at(0), 2);
    EXPECT_EQ(bytes.int_at(1), 4);
    EXPECT_EQ(bytes.int_at(2), -56);
    EXPECT_EQ(bytes.int_at(3), 127);
    EXPECT_EQ(bytes.int_at(4), 0);
    HostArray words(ElementType::U64, {2});
    words.set(0, 0x1p63);
    words.set(1, -1);
    EXPECT_EQ(words.as<uint64_t>()[0], uint64_t{1} << 63);
    EXPECT_EQ(words.as<uint64_t>()[1], std::numeric_limits<uint64_t>::max());
    HostArray flags(ElementType::Bool, {2});
    flags.set(0, 0.25);
    EXPECT_EQ(flags.at(0), 1);
    words.set(0, std::nan(""));
    EXPECT_EQ(words.at(0), 0);
}

TEST(HostArray, LargeIntegersAreExact) {
    HostArray array(ElementType::I64, {1});
    array.as<int64_t>()[0] = (int64_t{1} << 60) + 1;
    EXPECT_EQ(array.int_at(0), (int64_t{1} << 60) + 1);
    EXPECT_THROW(HostArray(ElementType::F32, {1}).int_at(0), InternalError);
}

TEST(HostArray, CopiesAreIndependent) {
    HostArray first(ElementType::F32, {7});
    first.set(3, 1.5);
    HostArray second = first;
    second.set(3, 2.5);
    EXPECT_EQ(first.at(3), 1.5);
    first = second;
    EXPECT_EQ(first.at(3), 2.5);
    const HostArray& alias = first;
    first = alias;
    EXPECT_EQ(first.at(3), 2.5);
    HostArray empty = HostArray();
    EXPECT_EQ(empty.size(), 0);
}

}  // namespace
}  // namespace ollie
