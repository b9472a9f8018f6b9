#include "program/program.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/print.h"
#include "program/parse.h"
#include "program/print.h"
#include "program/verify.h"
#include "support/program_builder.h"

namespace ollie::program {
namespace {

using ollie::testing::counting;
using ollie::testing::ProgramBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* text = R"(program
input x: f32[1, 3, 8, 8]
constant W: f32[5, 3]
constant "b/1": f32[5]
scratch t: f32[1, 3, 8, 8] order 0 2 3 1
output y: f32[1, 5, 8, 8] order 0 2 3 1
inputs (x)
outputs (y)
call copy (x) -> (t) from "node", "other \"node\""
  input x: f32[1, 3, 8, 8]
  output t: f32[n:1, c:3, h:8, w:8] = x[n, c, h, w]
kernel kernel_1 {ints = [1, 2], scale = 1.0, schedule = "vector 3"} (t, W, "b/1") -> (y)
  input t: f32[1, 3, 8, 8]
  weight W: f32[5, 3]
  weight "b/1": f32[5]
  output y: f32[n:1, f:5, h:8, w:8] = sum[c:3] t[n, c, h, w] * W[f, c] + "b/1"[f]
)";

/// The program of the text with values for its constants.
Program complete() {
    Program program = parse(text);
    for (Buffer& buffer : program.buffers)
        if (buffer.role == Role::Constant)
            buffer.values = std::make_shared<const HostArray>(counting(buffer.shape));
    return program;
}

TEST(ProgramText, RoundTrip) {
    EXPECT_EQ(print(parse(text)), text);
    EXPECT_EQ(print(complete()), text);
    EXPECT_EQ(print(parse("program\ninputs ()\noutputs ()\n")), "program\ninputs ()\noutputs ()\n");
}

TEST(ProgramText, MeansWhatItSays) {
    Program program = parse(text);
    ASSERT_EQ(program.buffers.size(), 5u);
    EXPECT_EQ(program.buffers[3].layout, Layout::channels_last(4));
    EXPECT_EQ(program.buffers[2].name, "b/1");
    EXPECT_THAT(program.inputs, ElementsAre(0));
    EXPECT_THAT(program.outputs, ElementsAre(4));
    ASSERT_EQ(program.steps.size(), 2u);
    EXPECT_THAT(program.steps[0].origin, ElementsAre("node", "other \"node\""));
    EXPECT_EQ(program.steps[1].kind, StepKind::Kernel);
    EXPECT_EQ(find_float(program.steps[1].parameters, "scale"), 1.0);
    EXPECT_EQ(find_int(program.steps[1].parameters, "scale"), std::nullopt);
    EXPECT_THAT(program.steps[1].arguments, ElementsAre(3, 1, 2));
    EXPECT_EQ(program.steps[1].meaning.outputs.front()->name, "y");
}

TEST(ProgramText, WithoutMeaningAndWithoutAxes) {
    constexpr const char* bare =
        "program\ninput s: i64[]\nscratch e: bool[0]\noutput r: i64[]\n"
        "inputs (s)\noutputs (r)\ncall f (s) -> (e)\ncall g () -> (r)\n";
    EXPECT_EQ(print(parse(bare)), bare);
}

std::string error_of(const std::string& from, const std::string& to) {
    std::string changed = text;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    try {
        parse(changed);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(ProgramText, ErrorsNameTheirPlace) {
    EXPECT_THAT(error_of("program", "programm"), HasSubstr("line 1"));
    EXPECT_THAT(error_of("f32[5, 3]", "f31[5, 3]"), HasSubstr("line 3"));
    EXPECT_THAT(error_of("constant W", "constant x"), HasSubstr("'x' is defined twice"));
    EXPECT_THAT(error_of("order 0 2 3 1", "order 0 2 3 3"), HasSubstr("no permutation"));
    EXPECT_THAT(error_of("order 0 2 3 1", "order 0 2 3"), HasSubstr("line 6"));
    EXPECT_THAT(error_of("order 0 2 3 1", "order 0 2 3 99999999999"), HasSubstr("no permutation"));
    EXPECT_THAT(error_of("[5, 3]", "[5, -3]"), HasSubstr("below 0"));
    EXPECT_THAT(error_of("inputs (x)", "inputs (z)"), HasSubstr("line 7"));
    EXPECT_THAT(error_of("call copy", "cal copy"), HasSubstr("line 9"));
    EXPECT_THAT(error_of("-> (t)", "> (t)"), HasSubstr("line 9"));
    EXPECT_THAT(error_of("= x[n", "= z[n"), HasSubstr("line 11"));
    EXPECT_THAT(error_of("* W[f, c]", "* W[f; c]"), HasSubstr("line 16"));
    EXPECT_THAT(error_of("outputs (y)", "outputs (y) more"), HasSubstr("line 8"));
    EXPECT_THAT(error_of("inputs (x)", "  inputs (x)"), HasSubstr("line 7"));
}

TEST(ProgramText, TruncatedAnywhereItIsAnErrorOrAProgram) {
    std::string whole = text;
    for (size_t size = 0; size < whole.size(); ++size) {
        try {
            parse(whole.substr(0, size));
        } catch (const UserError&) {
        }
    }
}

TEST(ProgramText, ValuesAreNoPartOfMeanings) {
    ProgramBuilder builder;
    builder.constant("W", counting({2}))
        .output("y", {2})
        .call("reference", {"W"}, {"y"}, "weight W: f32[2] = {7, 8}\noutput y: f32[i:2] = W[i]");
    EXPECT_THAT(print(builder.program()), HasSubstr("  weight W: f32[2]\n"));
    EXPECT_THAT(expr::print(builder.program().steps[0].meaning), HasSubstr("{7, 8}"));
}

TEST(ProgramText, PlanAndDerivations) {
    Program program = complete();
    Plan plan{{-1, -1, -1, 64, -1}, {-1, 0}, 832};
    EXPECT_EQ(print(program, plan),
              "arena 832 bytes\nt: offset 64, 768 bytes, steps 0 to 1\n"
              "workspace of step 1: offset 0\n");
    Derivation derivation;
    derivation.name = "sub";
    derivation.before = "a\nb\n";
    derivation.trail = {{"rule", "Y", "split", {"fact"}, "after\n"}};
    derivation.chosen = "kernel";
    derivation.identity = "equal";
    program.derivations = {derivation};
    EXPECT_EQ(print_derivations(program),
              "derivation sub\n    a\n    b\n  rule at Y with split\n    because fact\n    after\n"
              "  chosen: kernel\n  identity: equal\n");
}

TEST(Verify, AcceptsAProgram) { EXPECT_THAT(violations(complete()), ElementsAre()); }

/// The violations of the program after a change.
std::string violation(const std::function<void(Program&)>& change) {
    Program program = complete();
    change(program);
    std::string all;
    for (const std::string& one : violations(program)) all += one + "\n";
    EXPECT_EQ(all.empty(), false);
    EXPECT_THROW(verify(program), InternalError);
    return all;
}

TEST(Verify, FindsWhatIsWrong) {
    using P = Program&;
    EXPECT_THAT(violation([](P p) { p.steps[0].results = {9}; }), HasSubstr("no buffer 9"));
    EXPECT_THAT(violation([](P p) { p.steps.erase(p.steps.begin()); }),
                HasSubstr("step 0 reads t, which nothing has written"));
    EXPECT_THAT(violation([](P p) { std::swap(p.steps[0], p.steps[1]); }),
                HasSubstr("step 0 reads t"));
    EXPECT_THAT(violation([](P p) { p.steps.push_back(p.steps[0]); }),
                HasSubstr("step 2 writes t again"));
    EXPECT_THAT(violation([](P p) { p.steps[0].results = {1}; }), HasSubstr("writes W again"));
    EXPECT_THAT(violation([](P p) { p.steps.pop_back(); }), HasSubstr("nothing writes the output"));
    EXPECT_THAT(violation([](P p) { p.buffers[3].shape[1] = 4; }),
                HasSubstr("t has another shape or type"));
    EXPECT_THAT(violation([](P p) { p.buffers[4].type = ElementType::F64; }),
                HasSubstr("y has another shape or type"));
    EXPECT_THAT(violation([](P p) {
                    p.buffers[3].layout.order = {0, 1, 1, 2};
                }),
                HasSubstr("no permutation"));
    EXPECT_THAT(violation([](P p) { p.buffers[1].values = nullptr; }), HasSubstr("have values"));
    EXPECT_THAT(violation([](P p) { p.buffers[3].values = p.buffers[1].values; }),
                HasSubstr("have values"));
    EXPECT_THAT(violation([](P p) {
                    p.buffers[1].values = std::make_shared<const HostArray>(counting({3, 5}));
                }),
                HasSubstr("another shape"));
    EXPECT_THAT(violation([](P p) { p.buffers[1].name = "t"; }), HasSubstr("are named t"));
    EXPECT_THAT(violation([](P p) { p.inputs = {}; }), HasSubstr("not in the list"));
    EXPECT_THAT(violation([](P p) { p.inputs = {0, 0}; }), HasSubstr("two inputs"));
    EXPECT_THAT(violation([](P p) { p.inputs = {0, 3}; }), HasSubstr("is none"));
    EXPECT_THAT(violation([](P p) { p.steps[0].meaning = {}; }), HasSubstr("no meaning"));
    EXPECT_THAT(violation([](P p) {
                    p.steps[1].arguments = {3, 1};
                }),
                HasSubstr("its meaning has b/1"));
    EXPECT_THAT(violation([](P p) { p.buffers[0].shape[0] = -1; }), HasSubstr("shape"));
}

TEST(Hash, DependsOnAllThatRuns) {
    Program program = complete();
    Key key = hash(program);
    EXPECT_EQ(hash(complete()), key);
    auto changed = [&](const std::function<void(Program&)>& change) {
        Program other = complete();
        change(other);
        return hash(other) != key;
    };
    using P = Program&;
    EXPECT_TRUE(changed([](P p) { p.steps[1].parameters["scale"] = int64_t{1}; }));
    EXPECT_TRUE(changed([](P p) { p.buffers[3].layout = Layout::row_major(4); }));
    EXPECT_TRUE(changed([](P p) { p.code.push_back(std::byte{1}); }));
    EXPECT_TRUE(changed([](P p) { p.code_target = "x86-64"; }));
    EXPECT_TRUE(changed([](P p) {
        p.buffers[1].values = std::make_shared<const HostArray>(counting({5, 3}, 2));
    }));
    EXPECT_FALSE(changed([](P p) { p.steps[0].cost.measured = 1; }));
    EXPECT_FALSE(changed([](P p) { p.facts["seconds"] = 1.0; }));
}

}  // namespace
}  // namespace ollie::program
