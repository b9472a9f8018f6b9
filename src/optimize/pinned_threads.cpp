#include "optimize/pinned_threads.h"

#include <barrier>
#include <thread>
#include <vector>

#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ollie::optimize {

namespace {

constexpr int chains = 16;  // Independent, to hide the latency of an addition.
constexpr int steps = 2000;

float generic_multiply_add() {
    float value[chains] = {};
    for (int step = 0; step < steps; ++step) {
        for (float& v : value) v = v * 0.999F + 0.001F;
    }
    float sum = 0;
    for (float v : value) sum += v;
    return sum;
}

float generic_read(std::span<const float> elements) {
    float sum[chains] = {};
    size_t i = 0;
    for (; i + chains <= elements.size(); i += chains) {
        for (int k = 0; k < chains; ++k) sum[k] += elements[i + k];
    }
    float total = 0;
    for (float s : sum) total += s;
    return total;
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) float avx2_multiply_add() {
    __m256 value[chains];
    for (auto& v : value) v = _mm256_setzero_ps();
    const __m256 factor = _mm256_set1_ps(0.999F), term = _mm256_set1_ps(0.001F);
    for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 12
        for (int k = 0; k < 12; ++k) value[k] = _mm256_fmadd_ps(value[k], factor, term);
    }
    __m256 sum = value[0];
    for (int k = 1; k < 12; ++k) sum = _mm256_add_ps(sum, value[k]);
    return _mm256_cvtss_f32(sum);
}

__attribute__((target("avx512f"))) float avx512_multiply_add() {
    __m512 value[chains];
    for (auto& v : value) v = _mm512_setzero_ps();
    const __m512 factor = _mm512_set1_ps(0.999F), term = _mm512_set1_ps(0.001F);
    for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 16
        for (int k = 0; k < chains; ++k) value[k] = _mm512_fmadd_ps(value[k], factor, term);
    }
    __m512 sum = value[0];
    for (int k = 1; k < chains; ++k) sum = _mm512_add_ps(sum, value[k]);
    return _mm512_cvtss_f32(sum);
}

__attribute__((target("avx2"))) float avx2_read(std::span<const float> elements) {
    __m256 sum[8];
    for (auto& s : sum) s = _mm256_setzero_ps();
    for (size_t i = 0; i + 64 <= elements.size(); i += 64) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            sum[k] = _mm256_add_ps(sum[k], _mm256_loadu_ps(elements.data() + i + 8 * k));
        }
    }
    for (int k = 1; k < 8; ++k) sum[0] = _mm256_add_ps(sum[0], sum[k]);
    return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f"))) float avx512_read(std::span<const float> elements) {
    __m512 sum[8];
    for (auto& s : sum) s = _mm512_setzero_ps();
    for (size_t i = 0; i + 128 <= elements.size(); i += 128) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            sum[k] = _mm512_add_ps(sum[k], _mm512_loadu_ps(elements.data() + i + 16 * k));
        }
    }
    for (int k = 1; k < 8; ++k) sum[0] = _mm512_add_ps(sum[0], sum[k]);
    return _mm512_cvtss_f32(sum[0]);
}

bool has_avx512() { return __builtin_cpu_supports("avx512f") != 0; }
bool has_avx2() {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

#endif

}  // namespace

void pin_this_thread(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

void run_pinned(std::span<const int> processors, const std::function<void(size_t)>& body) {
    std::barrier start(static_cast<std::ptrdiff_t>(processors.size()));
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < processors.size(); ++i) {
        threads.emplace_back([&, i] {
            pin_this_thread(processors[i]);
            start.arrive_and_wait();
            body(i);
        });
    }
}

int64_t multiply_add() {
    [[maybe_unused]] volatile float sink;
#if defined(__x86_64__)
    if (has_avx512()) {
        sink = avx512_multiply_add();
        return int64_t{2} * 16 * chains * steps;
    }
    if (has_avx2()) {
        sink = avx2_multiply_add();
        return int64_t{2} * 8 * 12 * steps;
    }
#endif
    sink = generic_multiply_add();
    return int64_t{2} * chains * steps;
}

float read_all(std::span<const float> elements) {
#if defined(__x86_64__)
    if (has_avx512()) return avx512_read(elements);
    if (has_avx2()) return avx2_read(elements);
#endif
    return generic_read(elements);
}

}  // namespace ollie::optimize
