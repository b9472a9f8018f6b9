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
constexpr double least_seconds = 0.02;
constexpr int least_runs = 5;
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
            double unit = static_cast<double>(mix(state + static_cast<uint64_t>(i)) >> 11) * 0x1p-53;
            array.set(i, is_float(buffer.type) ? 2 * unit - 1 : std::floor(4 * unit));
        }
        inputs.push_back(std::move(array));
    }
    return inputs;
}

double seconds_of(const program::Program& program) {
    auto shared = std::make_shared<const program::Program>(program);
    runtime::Session session(shared);
    std::vector<HostArray> inputs = random_inputs(program, 1);
    std::vector<HostArray> outputs;
    std::vector<const void*> sources;
    std::vector<void*> targets;
    for (const HostArray& input : inputs) sources.push_back(input.data());
    for (int index : program.outputs)
        outputs.emplace_back(program.buffers[index].type, program.buffers[index].shape);
    for (HostArray& output : outputs) targets.push_back(output.data());
    auto start = Clock::now();
    do session.run(sources, targets);
    while (since(start) < warm_seconds);
    std::vector<double> times;
    start = Clock::now();
    while (static_cast<int>(times.size()) < most_runs &&
           (since(start) < least_seconds || static_cast<int>(times.size()) < least_runs)) {
        auto began = Clock::now();
        session.run(sources, targets);
        times.push_back(since(began));
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    return times[times.size() / 2];
}

}  // namespace ollie::optimize
