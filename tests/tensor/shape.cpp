#include "tensor/shape.h"

#include <gtest/gtest.h>

#include "tensor/element_type.h"

namespace ollie {
namespace {

TEST(Shape, CountsAndText) {
    EXPECT_EQ(element_count({}), 1);
    EXPECT_EQ(element_count({2, 3, 5}), 30);
    EXPECT_EQ(element_count({2, 0, 5}), 0);
    EXPECT_EQ(to_text(Shape{}), "scalar");
    EXPECT_EQ(to_text(Shape{1, 3, 224}), "1x3x224");
}

TEST(Layout, RowMajorStrides) {
    EXPECT_EQ(dense_strides({2, 3, 5}), (std::vector<int64_t>{15, 5, 1}));
    EXPECT_TRUE(dense_strides({}).empty());
    EXPECT_TRUE(Layout::row_major(4).is_row_major());
}

TEST(Layout, ChannelsLastPutsAxisOneInnermost) {
    Layout layout = Layout::channels_last(4);
    EXPECT_EQ(layout.text(), "0 2 3 1");
    EXPECT_EQ(layout.strides({2, 3, 5, 7}), (std::vector<int64_t>{105, 1, 21, 3}));
    EXPECT_FALSE(layout.is_row_major());
    EXPECT_TRUE(Layout::channels_last(2).is_row_major());
}

TEST(ElementType, NamesRoundTrip) {
    for (int i = 0; i <= static_cast<int>(ElementType::Bool); ++i) {
        auto type = static_cast<ElementType>(i);
        EXPECT_EQ(element_type_of(name_of(type)), type);
        EXPECT_EQ(is_float(type) + is_integer(type) + (type == ElementType::Bool), 1);
    }
    EXPECT_FALSE(element_type_of("f16"));
}

}  // namespace
}  // namespace ollie
