#include "backends/cpu/softmaxes.h"

namespace ollie::backends::cpu {
namespace {

TEST(Softmax, EveryChoiceIsTheMeaning) {
    const std::vector<std::pair<std::string, std::vector<int64_t>>> problems{
        {"iJ", {5, 7}},      {"iJ", {1, 1000}},       {"iJ", {17, 1}},         {"Ji", {7, 5}},
        {"iJk", {3, 17, 5}}, {"bhiJ", {2, 3, 5, 33}}, {"nChw", {1, 19, 7, 5}}, {"iJK", {3, 5, 7}},
        {"J", {31}},         {"JK", {3, 5}},          {"iJk", {2, 16, 64}},
    };
    for (const auto& [axes, extents] : problems)
        for (bool is_log : {false, true})
            for (bool is_normal : {false, true}) {
                // Of a reduction over one element normalization leaves nothing.
                if (is_normal && axes == "iJ" && extents[1] == 1) continue;
                SCOPED_TRACE(testing::Message() << axes << " " << is_log << is_normal);
                expr::Expr expr = softmax(axes, extents, is_log, is_normal);
                EXPECT_GT(check_call("onednn_softmax", expr.outputs[0]), 0u);
            }
}

/// As masks make it: -inf among numbers, and numbers far apart.
TEST(Softmax, MasksAndLargeNumbers) {
    for (const char* axes : {"iJ", "Ji"}) {
        expr::Expr expr = softmax(axes, {19, 37}, false, true);
        const expr::Tensor* definition = expr.outputs[0];
        const LibraryCall& call = *find("onednn_softmax");
        match::Binding binding = bindings_of(call, definition).at(0);
        Arrays arrays = values_for(definition);
        auto values = arrays.begin()->second.as<float>();
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = i % 3 == 1 ? -INFINITY : values[i] * 200;
        Reference expected = reference_of(definition, arrays);
        auto choices = call.choices(binding);
        ASSERT_TRUE(choices);
        for (const CallChoice& choice : *choices)
            EXPECT_LE(error_of(PreparedCall(call, definition, choice, arrays).run(choice, arrays),
                               expected),
                      2e-6);
    }
}

TEST(Softmax, TheProducersAreOfTheGroup) {
    expr::Expr expr = softmax("iJ", {5, 7}, false, true);
    std::vector<match::Binding> bindings = bindings_of(*find("onednn_softmax"), expr.outputs[0]);
    ASSERT_EQ(bindings.size(), 1u);
    EXPECT_EQ(bindings[0].operands[0].tensor->name, "a");
}

}  // namespace
}  // namespace ollie::backends::cpu
