#include "optimize/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "base/hash.h"
#include "runtime/session.h"

namespace ollie::optimize {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double warm_seconds = 0.003;
constexpr double least_seconds = 0.03;
constexpr int least_runs = 3;
constexpr int most_runs = 2000;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::vector<HostArray> random_inputs(const program::Program& program, uint64_t seed) {
    std::vector<HostArray> inputs;
    for (int index : program.inputs) {
        const program::Buffer& buffer = program.buffers[index];
        HostArray array(buffer.type, buffer.shape);
        uint64_t state = Hasher().add(seed).add(buffer.name).key().low;
        for (int64_t i = 0; i < array.size(); ++i) {
            double unit =
                static_cast<double>(mix(state + static_cast<uint64_t>(i)) >> 11) * 0x1p-53;
            array.set(i, is_float(buffer.type) ? 2 * unit - 1 : std::floor(4 * unit));
        }
        inputs.push_back(std::move(array));
    }
    return inputs;
}

namespace {

/// A program with its inputs and outputs, ready to be timed.
class Contestant {
public:
    explicit Contestant(const program::Program& program)
        : session_(std::make_shared<const program::Program>(program)),
          inputs_(random_inputs(program, 1)) {
        for (const HostArray& input : inputs_) sources_.push_back(input.data());
        for (int index : program.outputs)
            outputs_.emplace_back(program.buffers[index].type, program.buffers[index].shape);
        for (HostArray& output : outputs_) targets_.push_back(output.data());
    }

    double one_run() {
        auto start = Clock::now();
        session_.run(sources_, targets_);
        return since(start);
    }

    /// Runs for the given seconds at least and `least` times; warm-up is thrown away.
    std::vector<double> block(double seconds, int least) {
        auto start = Clock::now();
        do session_.run(sources_, targets_);
        while (since(start) < warm_seconds);
        std::vector<double> times;
        start = Clock::now();
        while (static_cast<int>(times.size()) < most_runs &&
               (since(start) < seconds || static_cast<int>(times.size()) < least)) {
            times.push_back(one_run());
        }
        return times;
    }

private:
    runtime::Session session_;
    std::vector<HostArray> inputs_;
    std::vector<HostArray> outputs_;
    std::vector<const void*> sources_;
    std::vector<void*> targets_;
};

double median(std::vector<double> times) {
    auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

}  // namespace

double seconds_of(const program::Program& program, double limit) {
    constexpr int blocks = 3;
    constexpr double enough_seconds = 0.2;
    Contestant contestant(program);
    if (std::isfinite(limit) && contestant.one_run() > limit) {
        double warm = contestant.one_run();
        if (warm > limit) return warm;
    }
    auto start = Clock::now();
    double best = median(contestant.block(least_seconds, least_runs));
    for (int i = 1; i < blocks && since(start) < enough_seconds; ++i)
        best = std::min(best, median(contestant.block(least_seconds, least_runs)));
    return best;
}

std::pair<double, double> compare_seconds(const program::Program& x, const program::Program& y) {
    constexpr int rounds = 5;
    constexpr double block_seconds = 0.1;
    Contestant first(x);
    Contestant second(y);
    std::vector<double> ours;
    std::vector<double> theirs;
    for (int i = 0; i < rounds; ++i) {
        for (double time : first.block(block_seconds, least_runs)) ours.push_back(time);
        for (double time : second.block(block_seconds, least_runs)) theirs.push_back(time);
    }
    return {median(ours), median(theirs)};
}

}  // namespace ollie::optimize
