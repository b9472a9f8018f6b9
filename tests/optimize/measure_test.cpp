#include "optimize/measure.h"

#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

#include "base/error.h"
#include "base/parallel.h"

namespace ollie::optimize {
namespace {

TEST(Machine, HasProcessorsEachOnce) {
    std::vector<int> processors = usable_processors();
    ASSERT_FALSE(processors.empty());
    EXPECT_EQ(std::set<int>(processors.begin(), processors.end()).size(), processors.size());
    MachineDescription machine = describe_machine();
    EXPECT_GE(machine.cores, 1);
    EXPECT_LE(static_cast<size_t>(machine.cores), processors.size());
    EXPECT_FALSE(machine.cpu.empty());
}

TEST(Machine, RefusesMoreThreadsThanProcessors) {
    int count = static_cast<int>(usable_processors().size());
    EXPECT_EQ(processors_for(count).size(), static_cast<size_t>(count));
    EXPECT_THROW(processors_for(count + 1), UserError);
    EXPECT_THROW(processors_for(0), UserError);
}

TEST(Machine, OneThreadIsFit) { EXPECT_TRUE(measure_fitness(processors_for(1)).is_fit()); }

TEST(Machine, FitnessIsOfAllThreads) {
    if (usable_processors().size() < 2) GTEST_SKIP() << "one processor";
    Fitness fitness = measure_fitness(processors_for(2), 0.01, 1);
    EXPECT_EQ(fitness.threads, 2);
    EXPECT_GT(fitness.speedup, 0);
}

TEST(Machine, TwoThreadsOnOneProcessorAreUnfit) {
    int processor = usable_processors().front();
    std::vector<int> shared = {processor, processor};
    // On a busy machine one thread alone may get next to nothing: any of a few tries will do.
    bool unfit = false;
    for (int i = 0; i < 5 && !unfit; ++i) unfit = !measure_fitness(shared, 0.05, 1).is_fit();
    EXPECT_TRUE(unfit);
}

TEST(Machine, PeaksAreOrdered) {
    match::Machine machine = measure_machine(processors_for(1));
    EXPECT_EQ(machine.threads, 1);
    EXPECT_GT(machine.flops, 0);
    EXPECT_GT(machine.memory_bandwidth, 0);
    EXPECT_GT(machine.cache_bandwidth, 0);
    EXPECT_GT(machine.cache_bytes, 0);
    EXPECT_GT(machine.call_seconds, 0);
}

TEST(Pinning, GivesEachThreadItsProcessor) {
    // On a thread of its own, whose team ends with it.
    std::jthread([] {
        std::vector<int> processors = usable_processors();
        pin_team(processors);
        EXPECT_EQ(static_cast<size_t>(threads()), processors.size());
        std::vector<int> counts(processors.size()), found(processors.size());
        for_each_thread([&](int thread) {
            cpu_set_t set;
            CPU_ZERO(&set);
            sched_getaffinity(0, sizeof set, &set);
            counts[thread] = CPU_COUNT(&set);
            found[thread] = sched_getcpu();
        });
        EXPECT_EQ(counts, std::vector<int>(processors.size(), 1));
        EXPECT_EQ(found, processors);
    });
}

TEST(Distribution, QuartilesInterpolate) {
    EXPECT_EQ(summarize({}).runs, 0);
    Distribution one = summarize({3});
    EXPECT_EQ(one.first_quartile, 3);
    EXPECT_EQ(one.third_quartile, 3);
    Distribution four = summarize({4, 1, 3, 2});
    EXPECT_EQ(four.runs, 4);
    EXPECT_EQ(four.minimum, 1);
    EXPECT_DOUBLE_EQ(four.first_quartile, 1.75);
    EXPECT_DOUBLE_EQ(four.median, 2.5);
    EXPECT_DOUBLE_EQ(four.third_quartile, 3.25);
}

TEST(Blocks, ThrowTheWarmUpAway) {
    int runs = 0;
    std::vector<double> seconds = time_block([&] { ++runs; }, {0, 0});
    EXPECT_EQ(seconds.size(), 2U);
    EXPECT_EQ(runs, 3);
}

TEST(Blocks, AreFilled) {
    auto run = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    std::vector<double> seconds = time_block(run, {0.02, 0});
    double sum = 0;
    for (double s : seconds) {
        EXPECT_GE(s, 0.001);
        sum += s;
    }
    EXPECT_LE(seconds.size(), 20U);
    Distribution alone = time_alone(run, 2, {0.004, 0});
    EXPECT_GE(alone.runs, 4);
    EXPECT_GE(alone.minimum, 0.001);
}

}  // namespace
}  // namespace ollie::optimize
