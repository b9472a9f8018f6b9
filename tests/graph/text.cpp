#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph.h"

namespace ollie::graph {
namespace {

const char* const example = R"(graph net opset 17
input x: f32[1, 1, 32, 32]
input "n:0": i64[]
constant body.0.weight: f32[56, 1, 5, 5]
constant "/shape": i64[0]
"/body/0": f32[1, 56, 32, 32] = Conv<auto_pad = "NOTSET", pads = [2, 2, 2, 2]>(x, body.0.weight, -) "/body/0/Conv"
"input": f32[1, 56, 32, 32], - = "com.example" Odd<a = -3, b = -1.5, c = [], d = ["a\"b", "c\n"], e = [1.0, -inf, nan, 1e-40], value = tensor i64[2, 3]>("/body/0", "n:0") "odd one"
z: i64[] = Now() "now"
output "input"
output z
)";

std::string error_of(const std::string& text) {
    try {
        parse(text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(GraphText, PrintOfParseIsTheText) { EXPECT_EQ(print(parse(example)), example); }

TEST(GraphText, ParseKeepsStructure) {
    Graph graph = parse(example);
    verify(graph);
    EXPECT_EQ(graph.name, "net");
    EXPECT_EQ(graph.opset, 17);
    ASSERT_EQ(graph.nodes.size(), 3u);
    EXPECT_EQ(graph.nodes[0].inputs, (std::vector<int>{0, 2, -1}));
    EXPECT_EQ(graph.nodes[1].domain, "com.example");
    EXPECT_EQ(graph.nodes[1].outputs, (std::vector<int>{5, -1}));
    EXPECT_EQ(find_int(graph.nodes[1].attributes, "a"), -3);
    EXPECT_EQ(find_float(graph.nodes[1].attributes, "b"), -1.5);
    EXPECT_EQ(find_strings(graph.nodes[1].attributes, "d"),
              (std::vector<std::string>{"a\"b", "c\n"}));
    EXPECT_EQ(graph.nodes[1].tensors.at("value")->shape(), (Shape{2, 3}));
    EXPECT_TRUE(graph.values[3].constant);
    EXPECT_EQ(graph.values[3].constant->size(), 0);
    EXPECT_EQ(hash(parse(print(graph))), hash(graph));
}

TEST(GraphText, EmptyGraph) {
    std::string text = "graph \"\" opset 7\n";
    EXPECT_EQ(print(parse(text)), text);
    verify(parse(text));
}

TEST(GraphText, ErrorsNameThePlace) {
    using testing::HasSubstr;
    EXPECT_THAT(error_of(""), HasSubstr("line 1, column 1"));
    EXPECT_THAT(error_of("graph g opset x"), HasSubstr("expected an integer"));
    EXPECT_THAT(error_of("graph g opset 7\ninput x: f16[1]"),
                HasSubstr("line 2, column 10: found 'f16', expected a type"));
    EXPECT_THAT(error_of("graph g opset 7\ninput x: f32[-1]"), HasSubstr("below 0"));
    EXPECT_THAT(error_of("graph g opset 7\ninput x: f32[1"), HasSubstr("']'"));
    EXPECT_THAT(error_of("graph g opset 7\ny: f32[1] = Relu(x) \"r\""),
                HasSubstr("line 2, column 18: 'x' is not defined above"));
    EXPECT_THAT(error_of("graph g opset 7\ninput x: f32[1]\ninput x: f32[1]"),
                HasSubstr("line 3, column 7: 'x' is defined twice"));
    EXPECT_THAT(error_of("graph g opset 7\ninput x: f32[1]\ny: f32[1] = Relu(x)"),
                HasSubstr("expected a string"));
    EXPECT_THAT(error_of("graph g opset 7\noutput y"), HasSubstr("'y'"));
}

TEST(GraphText, TruncatedTextNeverCrashes) {
    std::string text = example;
    for (size_t length = 0; length < text.size(); ++length) {
        try {
            parse(text.substr(0, length));
        } catch (const UserError&) {
        }
    }
}

}  // namespace
}  // namespace ollie::graph
