#include "optimize/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/parallel.h"
#include "optimize/pinned_threads.h"

namespace ollie::optimize {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Work per second of all threads together; `work` returns how much one call has done.
double rate(std::span<const int> processors, double seconds,
            const std::function<int64_t(size_t)>& work) {
    std::vector<double> rates(processors.size());
    run_pinned(processors, [&](size_t i) {
        auto start = Clock::now();
        double done = 0, elapsed = 0;
        do {
            done += static_cast<double>(work(i));
            elapsed = seconds_since(start);
        } while (elapsed < seconds);
        rates[i] = done / elapsed;
    });
    double sum = 0;
    for (double r : rates) sum += r;
    return sum;
}

double best_rate(std::span<const int> processors, double seconds,
                 const std::function<int64_t(size_t)>& work) {
    double best = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        best = std::max(best, rate(processors, seconds, work));
    }
    return best;
}

/// Bytes per second of reading one slice of that size per thread again and again.
double read_rate(std::span<const int> processors, int64_t bytes_per_thread) {
    std::vector<std::vector<float>> slices(processors.size());
    auto count = static_cast<size_t>(bytes_per_thread) / sizeof(float);
    run_pinned(processors, [&](size_t i) { slices[i].assign(count, 1.0F); });
    volatile float sink = 0;
    return best_rate(processors, 0.03, [&](size_t i) {
        sink = read_all(slices[i]);
        return static_cast<int64_t>(count * sizeof(float));
    });
}

double loop_start_seconds(int count) {
    std::vector<double> seconds;
    for (int i = 0; i < 200; ++i) {
        auto start = Clock::now();
        parallel_for(count, [](int64_t) {});
        seconds.push_back(seconds_since(start));
    }
    return summarize(seconds).median;
}

double quantile(std::span<const double> sorted, double fraction) {
    double position = fraction * static_cast<double>(sorted.size() - 1);
    auto below = static_cast<size_t>(position);
    size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

Fitness measure_fitness(std::span<const int> processors, double seconds, int tries) {
    Fitness fitness{static_cast<int>(processors.size()), 1};
    if (processors.size() < 2) return fitness;
    auto work = [](size_t) { return multiply_add(); };
    fitness.speedup = 0;
    for (int i = 0; i < tries && !fitness.is_fit(); ++i) {
        double one = rate(processors.first(1), seconds, work);
        fitness.speedup = std::max(fitness.speedup, rate(processors, seconds, work) / one);
    }
    return fitness;
}

match::Machine measure_machine(std::span<const int> processors) {
    CHECK(!processors.empty());
    MachineDescription description = describe_machine();
    auto count = static_cast<int64_t>(processors.size());
    match::Machine machine;
    machine.threads = static_cast<int>(count);
    if (description.last_level_bytes > 0) machine.cache_bytes = description.last_level_bytes;
    machine.flops = best_rate(processors, 0.03, [](size_t) { return multiply_add(); });
    int64_t in_cache = std::clamp<int64_t>(machine.cache_bytes / (2 * count),
                                           2 * description.second_level_bytes, 16 << 20);
    machine.cache_bandwidth = read_rate(processors, in_cache);
    int64_t in_memory = std::clamp<int64_t>(4 * machine.cache_bytes, 128 << 20, 1 << 30);
    machine.memory_bandwidth = read_rate(processors, in_memory / count);
    machine.call_seconds = loop_start_seconds(machine.threads);
    return machine;
}

void pin_team(std::span<const int> processors) {
    CHECK(!processors.empty());
    set_threads(static_cast<int>(processors.size()));
    for_each_thread([&](int thread) {
        if (static_cast<size_t>(thread) < processors.size()) pin_this_thread(processors[thread]);
    });
}

Distribution summarize(std::vector<double> seconds) {
    if (seconds.empty()) return {};
    std::sort(seconds.begin(), seconds.end());
    return {static_cast<int64_t>(seconds.size()), seconds.front(), quantile(seconds, 0.25),
            quantile(seconds, 0.5), quantile(seconds, 0.75)};
}

std::vector<double> time_block(const std::function<void()>& run, const BlockSettings& settings) {
    auto start = Clock::now();
    do {
        run();
    } while (seconds_since(start) < settings.warm_seconds);
    std::vector<double> seconds;
    start = Clock::now();
    while (seconds.size() < 2 || seconds_since(start) < settings.seconds) {
        auto before = Clock::now();
        run();
        seconds.push_back(seconds_since(before));
    }
    return seconds;
}

Distribution time_alone(const std::function<void()>& run, int blocks,
                        const BlockSettings& settings) {
    std::vector<double> all;
    for (int i = 0; i < blocks; ++i) {
        std::vector<double> block = time_block(run, settings);
        all.insert(all.end(), block.begin(), block.end());
    }
    return summarize(std::move(all));
}

}  // namespace ollie::optimize
