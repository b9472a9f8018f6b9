#include "optimize/times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/temporary_folder.h"
#include "support/program_builder.h"

namespace ollie::optimize {
namespace {

using program::Role;
using testing::counting;
using testing::ProgramBuilder;

/// y = x * w[0], with names and layouts to choose.
program::Program scaled(const std::string& x = "x", const std::string& y = "y",
                        Shape shape = {2, 3}, std::vector<int> order = {0, 1}, double weight = 2) {
    std::string rows = std::to_string(shape[0]);
    std::string columns = std::to_string(shape[1]);
    ProgramBuilder builder;
    builder.buffer(x, shape, Role::Input, order)
        .constant("w", counting({1}, weight))
        .output(y, shape)
        .call("reference", {x, "w"}, {y},
              "input " + x + ": f32[" + rows + ", " + columns + "]\nweight w: f32[1]\noutput " + y +
                  ": f32[i:" + rows + ", j:" + columns + "] = " + x + "[i, j] * w[0]");
    return builder.program();
}

TEST(TuningKey, NamesAndValuesDoNotCount) {
    EXPECT_EQ(tuning_key(scaled()), tuning_key(scaled("a", "b")));
    EXPECT_EQ(tuning_key(scaled()), tuning_key(scaled("x", "y", {2, 3}, {0, 1}, 5)));
}

TEST(TuningKey, WhatCostsCounts) {
    std::string key = tuning_key(scaled());
    EXPECT_NE(key, tuning_key(scaled("x", "y", {3, 2})));
    EXPECT_NE(key, tuning_key(scaled("x", "y", {2, 3}, {1, 0})));
    program::Program other = scaled();
    other.steps[0].target = "another";
    EXPECT_NE(key, tuning_key(other));
    other = scaled();
    other.steps[0].parameters["algorithm"] = std::string("other");
    EXPECT_NE(key, tuning_key(other));
    other = scaled();
    other.buffers[1].values = nullptr;
    EXPECT_NE(key, tuning_key(other));
}

TEST(TuningKey, OfAKernelTheScheduleCountsNotTheSymbol) {
    program::Program kernel = scaled();
    kernel.steps[0].kind = program::StepKind::Kernel;
    kernel.steps[0].parameters["schedule"] = std::string("wide");
    program::Program other = kernel;
    other.steps[0].target = "symbol_2";
    EXPECT_EQ(tuning_key(kernel), tuning_key(other));
    other.steps[0].parameters["schedule"] = std::string("narrow");
    EXPECT_NE(tuning_key(kernel), tuning_key(other));
}

class TimesTest : public ::testing::Test {
protected:
    Options options(bool measure) const {
        Options options;
        options.threads = 1;
        options.measure = measure;
        options.tuning_file = (folder_.path() / "tuning.sqlite").string();
        return options;
    }

private:
    TemporaryFolder folder_;
};

TEST_F(TimesTest, MeasuresOnce) {
    Times first(options(true));
    double seconds = first.of(scaled());
    EXPECT_GT(seconds, 0);
    EXPECT_EQ(first.of(scaled("a", "b")), seconds);
    EXPECT_EQ(first.measured(), 1);
    EXPECT_EQ(first.known(), 1);
    Times second(options(true));
    EXPECT_EQ(second.of(scaled()), seconds);
    EXPECT_EQ(second.measured(), 0);
}

TEST_F(TimesTest, WithoutMeasurementTheDatabaseIsFrozen) {
    EXPECT_FALSE(Times(options(false)).knows_any());
    EXPECT_LT(Times(options(false)).of(scaled()), 0);
    double seconds = Times(options(true)).of(scaled());
    Times frozen(options(false));
    EXPECT_TRUE(frozen.knows_any());
    EXPECT_EQ(frozen.of(scaled()), seconds);
    EXPECT_LT(frozen.of(scaled("x", "y", {5, 7})), 0);
    EXPECT_EQ(frozen.find(scaled("x", "y", {5, 7})), std::nullopt);
}

TEST_F(TimesTest, PeaksAreMeasuredOnce) {
    match::Machine unknown = Times(options(false)).machine();
    EXPECT_EQ(unknown.flops, 1e11);
    EXPECT_EQ(unknown.cache_bytes, match::Machine{}.cache_bytes);
    match::Machine measured = Times(options(true)).machine();
    EXPECT_NE(measured.flops, 1e11);
    for (bool measure : {true, false}) {
        match::Machine again = Times(options(measure)).machine();
        EXPECT_EQ(again.flops, measured.flops);
        EXPECT_EQ(again.memory_bandwidth, measured.memory_bandwidth);
        EXPECT_EQ(again.cache_bandwidth, measured.cache_bandwidth);
        EXPECT_EQ(again.call_seconds, measured.call_seconds);
        EXPECT_EQ(again.cache_bytes, measured.cache_bytes);
        EXPECT_EQ(again.threads, 1);
    }
}

}  // namespace
}  // namespace ollie::optimize
