#pragma once

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "backends/cpu/products.h"
#include "backends/cpu/windows.h"

/// Random problems for every call: odd sizes, and sizes of the library's blocks.
namespace ollie::backends::cpu {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

    int64_t between(int64_t lo, int64_t hi) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return lo + static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(hi - lo + 1));
    }
    bool one_in(int64_t n) { return between(1, n) == 1; }
    int64_t pick(const std::vector<int64_t>& of) {
        return of[static_cast<size_t>(between(0, static_cast<int64_t>(of.size()) - 1))];
    }

private:
    uint64_t state_;
};

/// What a random problem is made of.
struct Sizes {
    std::vector<int64_t> channels;
    std::vector<int64_t> filters;
    std::vector<int64_t> groups;
    std::vector<std::vector<int64_t>> inputs;  ///< By the number of spatial axes, from 1.
    std::vector<int64_t> extents;              ///< Of products.
    int64_t most_operations;
    int64_t most_elements;    ///< Of one tensor.
    bool has_models = false;  ///< Half the windows are square and of many channels, as in models.
};

inline std::vector<int64_t> up_to(int64_t last) {
    std::vector<int64_t> all(static_cast<size_t>(last));
    std::iota(all.begin(), all.end(), 1);
    return all;
}

inline Sizes odd_sizes() {
    return {{1, 2, 3, 4, 7, 8, 13, 16, 17, 32},
            {1, 2, 3, 4, 5, 8, 11, 16, 19, 32},
            {2, 3, 5, 8, 16, 19},
            {up_to(61), up_to(17), up_to(7)},
            {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64},
            300'000,
            100'000};
}

/// At and around the sizes of blocks in registers and caches.
inline Sizes block_sizes() {
    const std::vector<int64_t> blocks{1,   3,   15,  16,  17,  32,  33,  64,  64,  65,  96,
                                      128, 128, 160, 255, 256, 256, 257, 512, 512, 1024};
    return {blocks,
            blocks,
            {2, 4, 8, 16, 17, 32, 64, 256},
            {{1, 5, 16, 64, 100, 129, 400},
             {1, 2, 4, 4, 7, 8, 8, 13, 14, 16, 16, 17, 28, 32, 56},
             {1, 2, 4, 5, 8, 8, 12}},
            {1, 4, 15, 16, 17, 31, 32, 48, 63, 64, 65, 128, 200, 256, 257, 512, 1024, 4096},
            60'000'000,
            2'500'000,
            true};
}

struct Problems {
    bool is_transposed = false;
    bool is_pool = false;
};

inline Spatial some_axis(Random& random, const std::vector<int64_t>& inputs,
                         const Problems& problems) {
    Spatial s{random.pick(inputs), random.pick({1, 2, 3, 3, 3, 4, 5, 7})};
    s.stride = random.pick({1, 1, 1, 2, 2, 3, 4});
    s.dilation = problems.is_pool ? 1 : random.pick({1, 1, 1, 1, 2, 3});
    s.pad_begin = random.between(0, s.kernel - 1);
    s.pad_end = random.one_in(2) ? s.pad_begin : random.between(0, s.kernel - 1);
    if (random.one_in(8) && !problems.is_transposed) s.pad_begin = -random.between(1, 2);
    if (random.one_in(8)) s.pad_end = -random.between(1, 2);
    return s;
}

/// The positions are as many as the elements, times or divided by the stride.
inline Case some_model(Random& random, const Problems& problems) {
    const std::vector<int64_t> channels{32, 64, 128, 256, 256, 512, 512};
    Case c{random.pick({1, 1, 2}), random.pick(channels), random.pick(channels)};
    Spatial s{random.pick({4, 4, 7, 8, 14, 16, 16, 28}), random.pick({2, 3, 3, 4, 4, 5})};
    s.stride = random.pick({1, 2, 2, 3});
    int64_t pads = std::max<int64_t>(0, s.kernel - (problems.is_transposed ? s.stride : 1));
    s.pad_begin = pads / 2;
    s.pad_end = pads - s.pad_begin;
    c.spatial = {s, s};
    return c;
}

inline Case some_window(Random& random, const Sizes& sizes, const Problems& problems) {
    int64_t rank = random.pick({1, 1, 2, 2, 2, 3});
    Case c{random.pick({1, 1, 2, 3}), random.pick(sizes.channels), random.pick(sizes.filters)};
    if (random.one_in(3)) {
        c.groups = random.pick(sizes.groups);
        c.has_group_axis = random.one_in(3);
        if (random.one_in(2)) c.channels = c.filters = 1;
    }
    for (int64_t i = 0; i < rank; ++i)
        c.spatial.push_back(
            some_axis(random, sizes.inputs[static_cast<size_t>(rank - 1)], problems));
    return c;
}

inline bool is_possible(const Case& c, const Sizes& sizes, const Problems& problems) {
    int64_t sources = c.images * c.channels * c.groups;
    int64_t results = c.images * c.filters * c.groups * (problems.is_pool ? c.channels : 1);
    int64_t weights = c.channels * c.filters * c.groups;
    double taps = static_cast<double>(problems.is_pool ? 1 : c.channels);
    for (const Spatial& s : c.spatial) {
        int64_t positions = problems.is_transposed ? s.scattered() : s.slid();
        if (positions < 1 || s.input + s.pad_begin < 1) return false;
        sources *= s.input;
        results *= positions;
        weights *= s.kernel;
        taps *= static_cast<double>(s.kernel);
        // Of which one in so many meets an element.
        if (problems.is_transposed) taps /= static_cast<double>(s.stride);
    }
    return std::max({sources, results, weights}) <= sizes.most_elements &&
           static_cast<double>(results) * taps <= static_cast<double>(sizes.most_operations);
}

inline Case some_case(Random& random, const Sizes& sizes, const Problems& problems) {
    bool is_model = sizes.has_models && random.one_in(2);
    while (true) {
        Case c = is_model ? some_model(random, problems) : some_window(random, sizes, problems);
        if (problems.is_pool) c.filters = c.groups = 1;
        if (is_possible(c, sizes, problems)) return c;
    }
}

/// A power of two by which sums of this many terms are brought near 1.
inline double squash(int64_t terms) {
    return std::exp2(-std::round(std::log2(static_cast<double>(terms)) / 2));
}

/// Reads a tensor at all, one or none of the result's axes.
inline Scalar some_tensor(Random& random, WindowMaker& m, const std::string& name) {
    bool is_constant = random.one_in(2);
    switch (random.between(0, 7)) {
        case 0:
            return m.varying(name, {}, is_constant);
        case 1:
            return m.varying(name, {m.result.front()}, is_constant);
        case 2:
            return m.varying(name, {m.result.back()}, is_constant);
        case 3:
        case 4:
            return m.residual(name);
        default:
            return m.varying(name, m.channels, is_constant);
    }
}

inline Scalar some_tensor(Random& random, ProductMaker& m, const std::string& name) {
    const std::string& all = m.result_letters;
    std::string last = all.substr(all.size() - 1);
    std::vector<std::string> letters{last, last, all, all, all.substr(0, 1), ""};
    return m.read(name, letters[static_cast<size_t>(random.between(0, 5))], random.one_in(2));
}

template <typename Maker>
Scalar with_tensor(Random& random, Maker& m, Scalar v, const std::string& name) {
    auto tensor = [&](const std::string& prefix) { return some_tensor(random, m, prefix + name); };
    switch (random.between(0, 9)) {
        case 0:
        case 1:
        case 2:
            return v + tensor("e");
        case 3:
        case 4:
            return v * tensor("e");
        case 5:
            return leaky(v, tensor("e"));
        case 6:
            return v - tensor("e");
        case 7:
            return max(v, tensor("e"));
        case 8:
            return v * m.arena.function(Function::Reciprocal, {tensor("divisor")});
        default:
            return min(tensor("e"), v);
    }
}

template <typename Maker>
Scalar with_activation(Random& random, Maker& m, Scalar v, double near_one) {
    auto constant = [&](double value) { return m.arena.constant_scalar(value); };
    auto function = [&](Function f, Scalar x) { return m.arena.function(f, {x}); };
    switch (random.between(0, 15)) {
        case 0:
            return relu(v);
        case 1:
            return leaky(v, constant(0.125));
        case 2:
            return min(max(v * near_one, constant(-1)), constant(6));
        case 3:
            return function(Function::Sigmoid, v * near_one);
        case 4:
            return function(Function::Tanh, v * near_one);
        case 5:
            return v * 0.5;
        case 6:
            return v * 3.0 + 0.25;
        case 7:
            return function(Function::Abs, v);
        case 8:
            return v * function(Function::Sigmoid, v * 0.5);
        case 9:
            return v * (function(Function::Erf, v * std::sqrt(0.5)) + 1.0) * 0.5;
        case 10:
            return v * min(max(v * 0.25 + 0.5, constant(0)), constant(1));
        case 11:
            return elu(v, 0.5);
        case 12:
            return function(Function::Exp, v * near_one);
        case 13:
            return function(Function::Sqrt, function(Function::Abs, v) + 1.0);
        case 14:
            return function(Function::Log, function(Function::Abs, v) + 2.0);
        default:
            return function(Function::Softplus, v * near_one);
    }
}

/// Up to three operations on a sum of this many terms.
template <typename Maker>
Scalar some_epilogue(Random& random, Maker& m, Scalar v, int64_t terms) {
    double near_one = squash(terms);
    for (int64_t left = random.pick({0, 0, 1, 1, 2, 3}); left > 0; --left)
        v = random.one_in(2) ? with_tensor(random, m, v, std::to_string(left))
                             : with_activation(random, m, v, near_one);
    return v;
}

inline std::string shuffled(Random& random, std::string text) {
    for (size_t i = text.size(); i > 1; --i)
        std::swap(text[i - 1],
                  text[static_cast<size_t>(random.between(0, static_cast<int64_t>(i) - 1))]);
    return text;
}

/// Letters: x y batch, i l rows, j m columns, k p reduced.
inline Contraction some_contraction(Random& random, const Sizes& sizes) {
    auto first_of = [&](std::string letters) {
        return letters.substr(0, static_cast<size_t>(random.pick({0, 1, 1, 1, 2})));
    };
    while (true) {
        std::string batch = random.one_in(2) ? "" : first_of("xy");
        std::string rows = first_of("il"), columns = first_of("jm"), reduced = first_of("kp");
        if (reduced.empty() || rows.empty()) continue;
        Contraction c{
            batch + rows + columns, batch + rows + reduced, batch + columns + reduced, {}};
        if (random.one_in(2)) {
            c.result = shuffled(random, c.result);
            c.first = shuffled(random, c.first);
            c.second = shuffled(random, c.second);
        } else {
            c.second = batch + reduced + columns;
        }
        double operations = 1;
        for (char letter : batch + rows + columns + reduced) {
            c.extents[letter] = random.pick(sizes.extents);
            operations *= static_cast<double>(c.extents[letter]);
        }
        c.first_is_constant = random.one_in(4);
        c.second_is_constant = !c.first_is_constant && random.one_in(2);
        int64_t largest = 1;
        for (const std::string& letters : {c.result, c.first, c.second}) {
            int64_t elements = 1;
            for (char letter : letters) elements *= c.extents[letter];
            largest = std::max(largest, elements);
        }
        if (operations <= static_cast<double>(sizes.most_operations) &&
            largest <= sizes.most_elements)
            return c;
    }
}

inline const Tensor* some_convolution(Random& random, WindowMaker& m, const Sizes& sizes) {
    Scalar value = m.convolution(some_case(random, sizes, {}), !random.one_in(4));
    return m.define(some_epilogue(random, m, value, terms_of(value)));
}

inline const Tensor* some_deconvolution(Random& random, WindowMaker& m, const Sizes& sizes) {
    Scalar value = m.deconvolution(some_case(random, sizes, {.is_transposed = true}));
    return m.define(some_epilogue(random, m, value, terms_of(value)));
}

inline const Tensor* some_pool(Random& random, WindowMaker& m, const Sizes& sizes) {
    auto kind = static_cast<PoolKind>(random.between(0, 3));
    Scalar value = m.pool(some_case(random, sizes, {.is_pool = true}), kind);
    return m.define(some_epilogue(random, m, value, terms_of(value)));
}

inline const Tensor* some_product(Random& random, ProductMaker& m, const Sizes& sizes) {
    Contraction c = some_contraction(random, sizes);
    Scalar value = m.product(c);
    return m.define(some_epilogue(random, m, value, terms_of(value)));
}

/// Outcomes over many problems.
struct Tally {
    int problems = 0;
    int accepted = 0;
    size_t choices = 0;
    size_t exact = 0;
    std::map<std::string, int> reasons;

    void add(const Checked& checked) {
        ++problems;
        accepted += checked.choices > 0;
        choices += checked.choices;
        exact += checked.exact;
        if (checked.choices == 0) ++reasons[checked.reason];
    }
    void print() const {
        std::printf("%d problems, %d accepted, %zu choices, %zu exact for NaN and infinity\n",
                    problems, accepted, choices, exact);
        for (const auto& [reason, count] : reasons)
            std::printf("  %3d  %s\n", count, reason.c_str());
    }
};

/// A thousand and more where the variable OLLIE_FUZZ asks for it.
inline int problem_count(int usual) {
    const char* text = std::getenv("OLLIE_FUZZ");
    return text == nullptr ? usual : std::atoi(text);
}

/// Mostly one; sometimes more than there are blocks of work, where the library shares sums out.
inline int threads_for(int seed) { return seed % 16 == 0 ? 8 : seed % 16 == 8 ? 2 : 1; }

/// `make` defines a problem by a random number and a maker.
template <typename Maker, typename Make>
Tally check_random(const std::string& call, const Make& make, const Sizes& sizes) {
    Tally tally;
    for (int seed = 0; seed < problem_count(40) && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Random random(static_cast<uint64_t>(seed));
        Maker maker;
        tally.add(check_choices(*find(call), make(random, maker, sizes), threads_for(seed),
                                /*most_error=*/1e-5));
    }
    tally.print();
    return tally;
}

}  // namespace ollie::backends::cpu
