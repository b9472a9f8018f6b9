#include "optimize/input_patterns.h"

#include <cmath>
#include <limits>

#include "base/hash.h"

namespace ollie::optimize {
namespace {

double unit(uint64_t seed, int64_t i) {
    return static_cast<double>(mix(seed + static_cast<uint64_t>(i)) >> 11) * 0x1p-53;
}

double normal(uint64_t seed, int64_t i) {
    double u = unit(seed, 2 * i) + 0x1p-60;
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * unit(seed, 2 * i + 1));
}

}  // namespace

std::vector<InputPattern> input_patterns() {
    return {
        {std::string(ordinary_inputs), normal},
        {"zeros", [](uint64_t, int64_t) { return 0.0; }},
        {"denormals", [](uint64_t s, int64_t i) { return 1e-40 * normal(s, i); }},
        {"large", [](uint64_t s, int64_t i) { return 1e4 * normal(s, i); }},
        {"constant rows", [](uint64_t s, int64_t i) { return normal(s, i / 16); }},
        {"mean 1e2", [](uint64_t s, int64_t i) { return 1e2 + normal(s, i); }},
        {"mean 4e4", [](uint64_t s, int64_t i) { return 4e4 + normal(s, i); }},
        {"NaN",
         [](uint64_t s, int64_t i) {
             return mix(s ^ static_cast<uint64_t>(i)) % 997 == 0
                        ? std::numeric_limits<double>::quiet_NaN()
                        : normal(s, i);
         },
         false},
        {"infinity",
         [](uint64_t s, int64_t i) {
             uint64_t r = mix(s ^ static_cast<uint64_t>(i));
             if (r % 997 != 0) return normal(s, i);
             return r & 1024 ? HUGE_VAL : -HUGE_VAL;
         },
         false},
    };
}

std::vector<HostArray> inputs_of(const program::Program& program, const InputPattern& pattern,
                                 uint64_t seed) {
    std::vector<HostArray> inputs;
    for (int index : program.inputs) {
        const program::Buffer& buffer = program.buffers[index];
        HostArray array(buffer.type, buffer.shape);
        uint64_t own = Hasher().add(seed).add(buffer.name).key().low;
        for (int64_t i = 0; i < array.size(); ++i)
            array.set(i,
                      is_float(buffer.type) ? pattern.value(own, i) : std::floor(4 * unit(own, i)));
        inputs.push_back(std::move(array));
    }
    return inputs;
}

}  // namespace ollie::optimize
