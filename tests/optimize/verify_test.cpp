#include "optimize/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "support/program_builder.h"

namespace ollie::optimize {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProgramBuilder;

/// More elements than the period of the patterns with NaN and infinity.
constexpr const char* model = "input x: f32[53, 59]\noutput y: f32[i:53, j:59] = x[i, j] * 3 + 1\n";

program::Program computing(const std::string& body) {
    ProgramBuilder builder;
    builder.input("x", {53, 59})
        .output("y", {53, 59})
        .call("reference", {"x"}, {"y"},
              "input x: f32[53, 59]\noutput y: f32[i:53, j:59] = " + body);
    return builder.program();
}

Verification verified(const std::string& body, const Options& options = {},
                      bool may_spread = false) {
    return verify(expr::parse(model), computing(body), computing("x[i, j] * 3 + 1"), options,
                  may_spread);
}

Options with(Accuracy accuracy) {
    Options options;
    options.accuracy = accuracy;
    return options;
}

TEST(Verify, AcceptsTheRightProgramOnEveryKindOfInput) {
    Verification verification = verified("x[i, j] * 3 + 1", with(Accuracy::Strict));
    EXPECT_THAT(verification.failures, IsEmpty());
    EXPECT_GE(verification.errors.size(), 7u);
    for (const OutputError& error : verification.errors) EXPECT_EQ(error.elements, 53 * 59);
    EXPECT_LT(verification.max_error(), 1e-6);
}

TEST(Verify, RejectsOneWrongElementAndSaysWhich) {
    Verification verification = verified("x[i, j] * 3 + 1 + select(i == 17 and j == 23, 1, 0)");
    ASSERT_FALSE(verification.failures.empty());
    EXPECT_THAT(verification.failures.front(),
                AllOf(HasSubstr("random"), HasSubstr("output y"),
                      HasSubstr("element " + std::to_string(17 * 59 + 23))));
}

TEST(Verify, RejectsAnErrorJustAboveTheBoundAndAcceptsOneBelow) {
    // On zeros the scale is 1: the error relative to it is what is added.
    EXPECT_THAT(verified("x[i, j] * 3 + 1.00008").failures, IsEmpty());
    EXPECT_THAT(verified("x[i, j] * 3 + 1.00012").failures, Not(IsEmpty()));
    EXPECT_THAT(verified("x[i, j] * 3 + 1.00012", with(Accuracy::Fast)).failures, IsEmpty());
    EXPECT_THAT(verified("x[i, j] * 3 + 1.0012", with(Accuracy::Fast)).failures, Not(IsEmpty()));
}

TEST(Verify, StrictWantsEveryBit) {
    const char* rounded_otherwise = "x[i, j] * 3 + 1.0000002";
    EXPECT_THAT(verified(rounded_otherwise).failures, IsEmpty());
    EXPECT_THAT(verified(rounded_otherwise, with(Accuracy::Strict)).failures,
                ::testing::Contains(HasSubstr("not bit-equal")));
}

TEST(Verify, RejectsAMaskThatLacksNanOrInfinity) {
    // Right on finite values, but NaN and infinities become 0.
    const char* cleans = "where(less(abs(x[i, j]), inf), x[i, j] * 3 + 1, 0)";
    for (bool may_spread : {false, true}) {
        Verification verification = verified(cleans, {}, may_spread);
        EXPECT_EQ(verification.failures.size(), 2u);
        EXPECT_THAT(verification.failures, Each(HasSubstr("inputs with")));
    }
}

TEST(Verify, AcceptsSpreadingOnlyWhereARuleOfTheTrailSaysSo) {
    // What is added is 0, but NaN where the row has one.
    const char* spreads = "x[i, j] * 3 + 1 + (sum[k:59] max(0, min(0, x[i, k])))";
    Verification strict = verified(spreads);
    ASSERT_FALSE(strict.failures.empty());
    EXPECT_THAT(strict.failures, Each(HasSubstr("inputs with")));
    EXPECT_THAT(verified(spreads, {}, true).failures, IsEmpty());
}

TEST(Verify, RejectsNanOnFiniteInputs) {
    Verification verification =
        verified("x[i, j] * 3 + select(i == 3 and j == 5, reciprocal(x[0, 0] * 0), 1)");
    ASSERT_FALSE(verification.failures.empty());
    EXPECT_THAT(verification.failures.front(), HasSubstr("element " + std::to_string(3 * 59 + 5)));
}

TEST(Verify, RejectsWhatTheUnoptimizedProgramHasWrongToo) {
    const char* far = "x[i, j] * 3.3 + 1";
    Verification verification =
        verify(expr::parse(model), computing(far), computing(far), {}, false);
    ASSERT_FALSE(verification.failures.empty());
    EXPECT_THAT(verification.failures.front(), HasSubstr("output y"));
}

TEST(Verify, BoundaryMustBeThatOfTheModel) {
    EXPECT_NO_THROW(check_same_boundary(expr::parse(model), computing("x[i, j]")));
    EXPECT_THROW(check_same_boundary(expr::parse("input x: f32[53, 59]\noutput z: f32[i:53, j:59] "
                                                 "= x[i, j]\n"),
                                     computing("x[i, j]")),
                 UserError);
    EXPECT_THROW(check_same_boundary(expr::parse("input x: f32[53, 61]\noutput y: f32[i:53, j:59] "
                                                 "= x[i, j]\n"),
                                     computing("x[i, j]")),
                 UserError);
}

}  // namespace
}  // namespace ollie::optimize
