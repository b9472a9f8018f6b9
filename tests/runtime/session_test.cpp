#include "runtime/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/compile_c.h"
#include "support/interpret.h"
#include "support/program_builder.h"
#include "support/random_program.h"

namespace ollie::runtime {
namespace {

using program::Role;
using testing::compile_c;
using testing::counting;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProgramBuilder;

std::vector<double> elements(const HostArray& array) {
    std::vector<double> result;
    for (int64_t i = 0; i < array.size(); ++i) result.push_back(array.at(i));
    return result;
}

std::vector<HostArray> run(const ProgramBuilder& builder, const std::vector<HostArray>& inputs) {
    return Session(builder.share()).run(inputs);
}

constexpr const char* twice_source = R"(
int twice(void* const* arguments, void* const* results, void* context) {
    const float* x = arguments[0];
    float* y = results[0];
    for (int i = 0; i < 6; ++i) y[i] = 2 * x[i];
    return 0;
}
int fails(void* const* arguments, void* const* results, void* context) { return 7; }
)";

ProgramBuilder kernel_program(const std::string& symbol, const std::string& source) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .output("Y", {2, 3})
        .kernel(symbol, {"X"}, {"Y"}, "input X: f32[2, 3]\noutput Y: f32[i:2, j:3] = X[i, j] * 2");
    builder.program().code = compile_c(source);
    builder.program().code_target = "x86-64";
    return builder;
}

TEST(Session, RunsTheReference) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .constant("b", counting({3}, 10))
        .output("Y", {2, 3})
        .call("reference", {"X", "b"}, {"Y"},
              "input X: f32[2, 3]\nweight b: f32[3]\noutput Y: f32[i:2, j:3] = X[i, j] + b[j]");
    Session session(builder.share());
    std::vector<HostArray> inputs{counting({2, 3})};
    EXPECT_THAT(elements(session.run(inputs)[0]), ElementsAre(0, 11, 22, 3, 14, 25));
    EXPECT_THAT(session.implementations(), ElementsAre("float64"));
    EXPECT_EQ(session.profile(inputs).size(), 1u);
    EXPECT_EQ(session.arena_bytes(), 0);
}

TEST(Session, RunsKernelsFromMemory) {
    ProgramBuilder builder = kernel_program("twice", twice_source);
    EXPECT_THAT(elements(run(builder, {counting({2, 3})})[0]), ElementsAre(0, 2, 4, 6, 8, 10));
}

TEST(Session, KeepsTheCodeOfTwoSessionsApart) {
    ProgramBuilder twice = kernel_program("twice", twice_source);
    std::string thrice_source = twice_source;
    thrice_source.replace(thrice_source.find("2 * x"), 1, "3");
    ProgramBuilder thrice = kernel_program("twice", thrice_source);
    std::vector<HostArray> inputs{counting({2, 3})};
    auto first = std::make_unique<Session>(twice.share());
    Session second(thrice.share());
    EXPECT_THAT(elements(second.run(inputs)[0]), ElementsAre(0, 3, 6, 9, 12, 15));
    EXPECT_THAT(elements(first->run(inputs)[0]), ElementsAre(0, 2, 4, 6, 8, 10));
    first.reset();
    Session third(twice.share());
    EXPECT_THAT(elements(third.run(inputs)[0]), ElementsAre(0, 2, 4, 6, 8, 10));
    EXPECT_THAT(elements(second.run(inputs)[0]), ElementsAre(0, 3, 6, 9, 12, 15));
}

TEST(Session, SaysWhatIsWrongWithCode) {
    auto message = [](const ProgramBuilder& builder) {
        try {
            Session session(builder.share());
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    ProgramBuilder builder = kernel_program("unknown", twice_source);
    EXPECT_THAT(message(builder), HasSubstr("no kernel \"unknown\""));
    builder = kernel_program("twice", twice_source);
    builder.program().code_target = "x86-64-avx9000";
    EXPECT_THAT(message(builder), HasSubstr("lacks avx9000"));
    builder.program().code_target = "x86-64";
    builder.program().code.resize(100);
    EXPECT_THAT(message(builder), HasSubstr("cannot be loaded"));
    builder.program().code.clear();
    EXPECT_THAT(message(builder), HasSubstr("no code"));
    builder.program().steps[0].kind = program::StepKind::Call;
    EXPECT_THAT(message(builder), HasSubstr("it has alias, copy, onednn_"));
}

TEST(Session, AFailingKernelIsABug) {
    EXPECT_THROW(run(kernel_program("fails", twice_source), {counting({2, 3})}), InternalError);
}

TEST(Session, PacksConstantsForKernels) {
    ProgramBuilder builder;
    builder.constant("W", counting({2, 3}), {1, 0})
        .output("Y", {6})
        .kernel("dump", {"W"}, {"Y"},
                "weight W: f32[2, 3]\noutput Y: f32[i:6] = W[i div 3, i mod 3]");
    builder.program().code = compile_c(
        "int dump(void* const* a, void* const* r, void* c) {"
        "  for (int i = 0; i < 6; ++i) ((float*)r[0])[i] = ((const float*)a[0])[i]; return 0; }");
    EXPECT_THAT(elements(run(builder, {})[0]), ElementsAre(0, 3, 1, 4, 2, 5));
}

constexpr const char* same = "input X: f32[2, 3]\noutput S: f32[i:2, j:3] = X[i, j]";
constexpr const char* back = "input S: f32[2, 3]\noutput Y: f32[i:2, j:3] = S[i, j]";

TEST(Session, CopiesBetweenLayouts) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .scratch("S", {2, 3}, {1, 0})
        .output("Y", {2, 3})
        .call("copy", {"X"}, {"S"}, same)
        .call("copy", {"S"}, {"Y"}, back);
    Session session(builder.share());
    std::vector<HostArray> inputs{counting({2, 3})};
    EXPECT_THAT(elements(session.run(inputs)[0]), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(session.implementations(), ElementsAre("strided", "strided"));
    EXPECT_EQ(session.arena_bytes(), 64);
}

TEST(Session, AliasesShareStorage) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .scratch("S", {2, 3})
        .scratch("T", {6})
        .output("Y", {6})
        .call("copy", {"X"}, {"S"}, same)
        .call("alias", {"S"}, {"T"}, "input S: f32[2, 3]\noutput T: f32[i:6] = S[i div 3, i mod 3]")
        .call("reference", {"T"}, {"Y"}, "input T: f32[6]\noutput Y: f32[i:6] = -T[i]");
    Session session(builder.share());
    EXPECT_EQ(session.arena_bytes(), 64);
    EXPECT_THAT(elements(session.run(std::vector{counting({2, 3})})[0]),
                ElementsAre(0, -1, -2, -3, -4, -5));
}

TEST(Session, AliasesOfInputsAndConstants) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .constant("W", counting({6}, 10))
        .scratch("T", {6})
        .scratch("V", {2, 3})
        .output("Y", {6})
        .call("alias", {"X"}, {"T"}, "input X: f32[2, 3]\noutput T: f32[i:6] = X[i div 3, i mod 3]")
        .call("alias", {"W"}, {"V"}, "weight W: f32[6]\noutput V: f32[i:2, j:3] = W[3 * i + j]")
        .call("reference", {"T", "V"}, {"Y"},
              "input T: f32[6]\ninput V: f32[2, 3]\n"
              "output Y: f32[i:6] = T[i] + V[i div 3, i mod 3]");
    Session session(builder.share());
    EXPECT_EQ(session.arena_bytes(), 0);
    EXPECT_THAT(elements(session.run(std::vector{counting({2, 3})})[0]),
                ElementsAre(0, 11, 22, 33, 44, 55));
}

TEST(Session, AnAliasThatMovesElementsIsABug) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .output("Y", {3, 2})
        .call("alias", {"X"}, {"Y"}, "input X: f32[2, 3]\noutput Y: f32[i:3, j:2] = X[j, i]");
    EXPECT_THROW(Session session(builder.share()), InternalError);
    builder.program().buffers[1].layout = {{1, 0}};
    EXPECT_THAT(elements(run(builder, {counting({2, 3})})[0]), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Session, AnAliasIntoAnOutputIsWrittenThere) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .scratch("S", {2, 3})
        .output("Y", {6})
        .output("Z", {2, 3})
        .call("reference", {"X"}, {"S"}, "input X: f32[2, 3]\noutput S: f32[i:2, j:3] = -X[i, j]")
        .call("alias", {"S"}, {"Y"}, "input S: f32[2, 3]\noutput Y: f32[i:6] = S[i div 3, i mod 3]")
        .call("copy", {"S"}, {"Z"}, "input S: f32[2, 3]\noutput Z: f32[i:2, j:3] = S[i, j]");
    Session session(builder.share());
    EXPECT_EQ(session.arena_bytes(), 0);
    std::vector<HostArray> outputs = session.run(std::vector{counting({2, 3})});
    EXPECT_THAT(elements(outputs[0]), ElementsAre(0, -1, -2, -3, -4, -5));
    EXPECT_THAT(elements(outputs[1]), ElementsAre(0, -1, -2, -3, -4, -5));
}

TEST(Session, BuffersWithoutMemoryAreRefused) {
    ProgramBuilder builder;
    builder.input("X", {2, 3})
        .output("Y", {2, 3})
        .call("copy", {"X"}, {"Y"}, "input X: f32[2, 3]\noutput Y: f32[i:2, j:3] = X[i, j]");
    builder.program().outputs.clear();
    EXPECT_THROW(Session session(builder.share()), UserError);
}

TEST(Session, RandomProgramsComputeTheirMeaning) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        ProgramBuilder builder = testing::RandomProgram(seed).make();
        std::vector<HostArray> inputs{counting({2, 3, 4}, 0.5)};
        std::vector<HostArray> expected = testing::interpret(builder.program(), inputs);
        std::vector<HostArray> found = run(builder, inputs);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t k = 0; k < found.size(); ++k)
            EXPECT_EQ(elements(found[k]), elements(expected[k]));
        if (HasFailure()) break;
    }
}

TEST(Session, EmptyTensors) {
    ProgramBuilder builder;
    builder.input("X", {0, 3})
        .scratch("S", {0, 3}, {1, 0})
        .output("Y", {0, 3})
        .output("Z", {3})
        .call("copy", {"X"}, {"S"}, "input X: f32[0, 3]\noutput S: f32[i:0, j:3] = X[i, j]")
        .call("copy", {"S"}, {"Y"}, "input S: f32[0, 3]\noutput Y: f32[i:0, j:3] = S[i, j]")
        .call("reference", {"S"}, {"Z"},
              "input S: f32[0, 3]\noutput Z: f32[j:3] = sum[i:0] S[i, j]");
    Session session(builder.share());
    std::vector<HostArray> outputs = session.run(std::vector{counting({0, 3})});
    EXPECT_EQ(outputs[0].size(), 0);
    EXPECT_THAT(elements(outputs[1]), ElementsAre(0, 0, 0));
}

TEST(Session, OutputsThatNoStepWrites) {
    ProgramBuilder builder;
    builder.input("X", {2}).constant("W", counting({2}, 5));
    builder.program().outputs = {0, 1, 0};
    std::vector<HostArray> outputs = run(builder, {counting({2}, 3)});
    EXPECT_THAT(elements(outputs[0]), ElementsAre(0, 3));
    EXPECT_THAT(elements(outputs[1]), ElementsAre(0, 5));
    EXPECT_THAT(elements(outputs[2]), ElementsAre(0, 3));
}

TEST(Session, UnalignedTensorsOfTheCaller) {
    ProgramBuilder builder = kernel_program("twice", twice_source);
    Session session(builder.share());
    std::vector<float> x{9, 0, 1, 2, 3, 4, 5};
    std::vector<float> y(7, -1);
    const void* inputs[] = {x.data() + 1};
    void* outputs[] = {y.data() + 1};
    session.run(inputs, outputs);
    EXPECT_THAT(y, ElementsAre(-1, 0, 2, 4, 6, 8, 10));
    x[1] = 7;
    session.run(inputs, outputs);
    EXPECT_EQ(y[1], 14);
}

TEST(Session, NamesTheInputThatDoesNotFit) {
    ProgramBuilder builder = kernel_program("twice", twice_source);
    try {
        run(builder, {counting({3, 2})});
        FAIL();
    } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("input \"X\" is f32 3x2, the program wants f32 2x3"));
    }
    EXPECT_THROW(run(builder, {}), UserError);
}

}  // namespace
}  // namespace ollie::runtime
