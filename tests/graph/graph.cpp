#include "graph/graph.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ollie::graph {
namespace {

Graph example() {
    return parse(R"(graph net opset 17
input x: f32[2, 3]
constant w: f32[3]
a: f32[2, 3] = Add(x, w) "add"
b: f32[2, 3] = LeakyRelu<alpha = 0.1>(a) "relu"
c: f32[2, 3] = Mul(b, w) "mul"
output c
)");
}

std::string violations_of(const std::function<void(Graph&)>& change) {
    Graph graph = example();
    change(graph);
    try {
        verify(graph);
    } catch (const InternalError& error) {
        return error.what();
    }
    return "none";
}

TEST(GraphVerify, AcceptsWhatIsWell) {
    EXPECT_EQ(violations_of([](Graph&) {}), "none");
    EXPECT_EQ(violations_of([](Graph& g) { g.outputs = {0, 1, 2, 2}; }), "none");
    EXPECT_EQ(violations_of([](Graph& g) { g.nodes[1].inputs.push_back(-1); }), "none");
}

TEST(GraphVerify, NamesEveryViolation) {
    using testing::HasSubstr;
    EXPECT_THAT(violations_of([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }),
                HasSubstr("node \"relu\": \"a\" is read before it is defined"));
    EXPECT_THAT(
        violations_of([](Graph& g) { g.nodes[2].outputs = {3}; }),
        testing::AllOf(HasSubstr("\"b\" is defined twice"), HasSubstr("nothing defines \"c\"")));
    EXPECT_THAT(violations_of([](Graph& g) { g.nodes[2].outputs = {1}; }),
                HasSubstr("node \"mul\": \"w\" is defined twice"));
    EXPECT_THAT(violations_of([](Graph& g) { g.values[3].name = "a"; }),
                HasSubstr("two values named \"a\""));
    EXPECT_THAT(violations_of([](Graph& g) { g.nodes[2].name = "add"; }),
                HasSubstr("two nodes named \"add\""));
    EXPECT_THAT(violations_of([](Graph& g) { g.nodes[0].name = ""; }),
                HasSubstr("a node without a name"));
    EXPECT_THAT(violations_of([](Graph& g) { g.values[1].shape = {4}; }),
                HasSubstr("\"w\" differs from its constant"));
    EXPECT_THAT(violations_of([](Graph& g) { g.values[2].shape = {-1}; }),
                HasSubstr("\"a\" has shape -1"));
    EXPECT_THAT(violations_of([](Graph& g) { g.nodes[0].inputs[0] = 5; }), HasSubstr("no value 5"));
    EXPECT_THAT(violations_of([](Graph& g) { g.outputs = {-1}; }), HasSubstr("no value -1"));
    EXPECT_THAT(violations_of([](Graph& g) {
                    g.inputs = {0, 0};
                }),
                HasSubstr("the inputs: \"x\" is defined twice"));
}

TEST(GraphHash, SeesWhatIsComputedAndTheNamesOutside) {
    const Key key = hash(example());
    auto changed = [&](const std::function<void(Graph&)>& change) {
        Graph graph = example();
        change(graph);
        return hash(graph) != key;
    };
    EXPECT_FALSE(changed([](Graph&) {}));
    EXPECT_FALSE(changed([](Graph& g) { g.values[2].name = "other"; }));
    EXPECT_FALSE(changed([](Graph& g) { g.values[1].name = "weight"; }));
    EXPECT_FALSE(changed([](Graph& g) { g.name = "other"; }));
    EXPECT_TRUE(changed([](Graph& g) { g.values[0].name = "other"; }));
    EXPECT_TRUE(changed([](Graph& g) { g.values[4].name = "other"; }));
    EXPECT_TRUE(changed([](Graph& g) { g.values[0].shape = {3, 2}; }));
    EXPECT_TRUE(changed([](Graph& g) { g.values[0].type = ElementType::F64; }));
    EXPECT_TRUE(changed([](Graph& g) { g.nodes[1].attributes["alpha"] = 0.2; }));
    EXPECT_TRUE(changed([](Graph& g) { g.nodes[1].attributes["alpha"] = int64_t{0}; }));
    EXPECT_TRUE(changed([](Graph& g) { g.nodes[1].operator_name = "Elu"; }));
    EXPECT_TRUE(changed([](Graph& g) { g.nodes[2].inputs = {1, 3}; }));
    EXPECT_TRUE(changed([](Graph& g) { g.nodes[2].inputs = {3, 1, -1}; }));
    EXPECT_TRUE(changed([](Graph& g) { g.opset = 18; }));
    EXPECT_TRUE(changed([](Graph& g) {
        HostArray array(ElementType::F32, {3});
        array.set(2, 1e-30);
        g.values[1].constant = std::make_shared<const HostArray>(array);
    }));
}

TEST(GraphHash, DoesNotDependOnTheNumbering) {
    Graph graph = example();
    std::swap(graph.values[1], graph.values[4]);
    auto renumber = [](int& value) { value = value == 1 ? 4 : value == 4 ? 1 : value; };
    for (Node& node : graph.nodes) {
        for (int& value : node.inputs) renumber(value);
        for (int& value : node.outputs) renumber(value);
    }
    for (int& value : graph.outputs) renumber(value);
    verify(graph);
    EXPECT_EQ(hash(graph), hash(example()));
}

}  // namespace
}  // namespace ollie::graph
