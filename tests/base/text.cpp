#include "base/text.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace ollie {
namespace {

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

TEST(Text, Identifiers) {
    EXPECT_TRUE(is_identifier("conv1.weight"));
    EXPECT_TRUE(is_identifier("_x9"));
    for (const char* name : {"", "9x", "a..b", "a.", "a b", "/conv", "a-b"})
        EXPECT_FALSE(is_identifier(name)) << name;
}

TEST(Text, QuotedTextReadsBack) {
    for (std::string text : {"", "a b", "q\"uo\\te", "line\nbreak\ttab", "\x01\x1f", "ä#"}) {
        std::string written = quoted_text(text);
        TextReader reader(written);
        EXPECT_EQ(reader.string(), text);
        EXPECT_TRUE(reader.at_end());
    }
}

TEST(Text, NumbersReadBack) {
    double infinity = std::numeric_limits<double>::infinity();
    for (double value : {0.0, -0.0, 1.0, 0.1, -1e30, 5e-324, 1.7976931348623157e308, infinity,
                         -infinity, 1.0 / 3}) {
        std::string written = number_text(value);
        TextReader reader(written);
        double read = reader.number();
        EXPECT_EQ(read, value);
        EXPECT_EQ(std::signbit(read), std::signbit(value));
        EXPECT_TRUE(reader.at_end());
    }
    EXPECT_EQ(number_text(std::nan("")), "nan");
    EXPECT_TRUE(std::isnan(TextReader("nan").number()));
}

TEST(Text, SplitsRangesAndSymbols) {
    TextReader reader("h:0..7, x.y >= -9223372036854775808 # a comment\n-> 1.5e-3");
    EXPECT_EQ(reader.name(), "h");
    reader.expect(":");
    EXPECT_EQ(reader.integer(), 0);
    reader.expect("..");
    EXPECT_EQ(reader.integer(), 7);
    reader.expect(",");
    EXPECT_EQ(reader.name(), "x.y");
    reader.expect(">=");
    EXPECT_EQ(reader.integer(), std::numeric_limits<int64_t>::min());
    EXPECT_TRUE(reader.peek().starts_line);
    EXPECT_TRUE(reader.accept("->"));
    EXPECT_FALSE(reader.accept("->"));
    EXPECT_EQ(reader.number(), 1.5e-3);
    EXPECT_TRUE(reader.at_end());
}

TEST(Text, ErrorsNameThePlace) {
    EXPECT_EQ(error_of([] {
                  TextReader reader("a\n  ) b");
                  reader.name();
                  reader.expect("(");
              }),
              "line 2, column 3: found ')', expected '('");
    EXPECT_EQ(error_of([] { TextReader("").integer(); }),
              "line 1, column 1: found the end of the text, expected an integer");
    EXPECT_EQ(error_of([] { TextReader("9223372036854775808").integer(); }),
              "line 1, column 1: found '9223372036854775808', expected an integer of 64 bits");
    EXPECT_NE(error_of([] { TextReader("\"open"); }), "");
}

}  // namespace
}  // namespace ollie
