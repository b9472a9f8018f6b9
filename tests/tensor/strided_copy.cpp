#include "tensor/strided_copy.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "tensor/host_array.h"

namespace ollie {
namespace {

/// Every element of the shape, moved one by one.
void expect_copies(ElementType type, const Shape& shape, const Layout& from, const Layout& to) {
    HostArray source(type, shape);
    HostArray target(type, shape);
    for (int64_t i = 0; i < source.size(); ++i) source.set(i, static_cast<double>(i % 251));
    StridedCopy copy = StridedCopy::between(size_of(type), shape, from, to);
    EXPECT_EQ(copy.bytes(), source.bytes());
    copy.run(source.data(), target.data());
    auto strides = dense_strides(shape);
    auto source_strides = from.strides(shape);
    auto target_strides = to.strides(shape);
    int64_t wrong = 0;
    for (int64_t i = 0; i < source.size(); ++i) {
        int64_t s = 0;
        int64_t t = 0;
        for (size_t k = 0; k < shape.size(); ++k) {
            int64_t x = i / strides[k] % shape[k];
            s += x * source_strides[k];
            t += x * target_strides[k];
        }
        wrong += source.at(s) != target.at(t);
    }
    EXPECT_EQ(wrong, 0) << to_text(shape) << " " << from.text() << " -> " << to.text();
}

TEST(StridedCopy, AllOrdersOfOddShapes) {
    for (const Shape& shape : std::vector<Shape>{{},
                                                 {1},
                                                 {7},
                                                 {1, 1},
                                                 {17, 31},
                                                 {16, 16},
                                                 {5, 0, 3},
                                                 {2, 3, 5},
                                                 {33, 1, 17},
                                                 {2, 3, 17, 19},
                                                 {1, 40, 33, 2}}) {
        Layout from = Layout::row_major(shape.size());
        do {
            Layout to = Layout::row_major(shape.size());
            do expect_copies(ElementType::F32, shape, from, to);
            while (std::next_permutation(to.order.begin(), to.order.end()));
        } while (std::next_permutation(from.order.begin(), from.order.end()));
    }
}

TEST(StridedCopy, AllElementSizes) {
    for (ElementType type : {ElementType::U8, ElementType::I16, ElementType::F32, ElementType::I64})
        expect_copies(type, {3, 37, 41}, Layout::row_major(3), {{2, 0, 1}});
}

TEST(StridedCopy, LargeOnesInParallel) {
    int before = threads();
    set_threads(3);
    for (const Shape& shape : std::vector<Shape>{{1, 3, 211, 223}, {2, 64, 47, 53}, {70001}}) {
        Layout plain = Layout::row_major(shape.size());
        Layout last = Layout::channels_last(shape.size());
        expect_copies(ElementType::F32, shape, plain, last);
        expect_copies(ElementType::F32, shape, last, plain);
    }
    set_threads(before);
}

TEST(StridedCopy, KnowsWhenNothingMoves) {
    Layout plain = Layout::row_major(4);
    Layout last = Layout::channels_last(4);
    EXPECT_TRUE(StridedCopy::between(4, {2, 3, 4, 5}, last, last).is_contiguous());
    EXPECT_TRUE(StridedCopy::between(4, {2, 1, 4, 5}, plain, last).is_contiguous());
    EXPECT_TRUE(StridedCopy::between(4, {2, 3, 0, 5}, plain, last).is_contiguous());
    EXPECT_FALSE(StridedCopy::between(4, {2, 3, 4, 5}, plain, last).is_contiguous());
}

TEST(StridedCopy, BroadcastsAndSteps) {
    std::vector<float> source{0, 1, 2, 3, 4, 5};
    std::vector<float> target(6, -1);
    StridedCopy(4, {{2, 0, 3}, {3, 2, 1}}).run(source.data(), target.data());
    EXPECT_EQ(target, (std::vector<float>{0, 2, 4, 0, 2, 4}));
}

}  // namespace
}  // namespace ollie
