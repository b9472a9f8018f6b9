#include <algorithm>

#include "backends/cpu/products.h"
#include "backends/cpu/windows.h"

/// Many random problems of odd sizes: every choice of every call gives what the evaluator gives.
namespace ollie::backends::cpu {
namespace {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

    int64_t between(int64_t lo, int64_t hi) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return lo + static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(hi - lo + 1));
    }
    bool one_in(int64_t n) { return between(1, n) == 1; }
    int64_t pick(std::initializer_list<int64_t> of) {
        return of.begin()[between(0, static_cast<int64_t>(of.size()) - 1)];
    }

private:
    uint64_t state_;
};

constexpr int64_t most_operations = 300'000;

struct Problems {
    bool is_transposed = false;
    bool is_pool = false;
};

Case some_case(Random& random, const Problems& problems) {
    while (true) {
        Case c;
        int64_t rank = random.pick({1, 1, 2, 2, 2, 3});
        c.images = random.pick({1, 1, 2, 3});
        c.channels = random.pick({1, 2, 3, 4, 7, 8, 13, 16, 17, 32});
        c.filters = random.pick({1, 2, 3, 4, 5, 8, 11, 16, 19, 32});
        bool is_grouped = random.one_in(3);
        if (is_grouped) {
            c.groups = random.pick({2, 3, 5, 8, 16, 19});
            c.has_group_axis = random.one_in(3);
            if (random.one_in(2)) c.channels = c.filters = 1;
        }
        if (problems.is_pool) c.filters = c.groups = 1;
        double operations = static_cast<double>(c.images * c.channels * c.filters * c.groups);
        bool is_possible = true;
        for (int64_t i = 0; i < rank; ++i) {
            Spatial s{random.between(1, rank == 1   ? 61
                                        : rank == 2 ? 17
                                                    : 7),
                      random.pick({1, 2, 3, 3, 3, 4, 5, 7})};
            s.stride = random.pick({1, 1, 1, 2, 2, 3, 4});
            s.dilation = problems.is_pool ? 1 : random.pick({1, 1, 1, 1, 2, 3});
            s.pad_begin = random.between(0, s.kernel - 1);
            s.pad_end = random.one_in(2) ? s.pad_begin : random.between(0, s.kernel - 1);
            if (random.one_in(8) && !problems.is_transposed) s.pad_begin = -random.between(1, 2);
            if (random.one_in(8)) s.pad_end = -random.between(1, 2);
            int64_t positions = problems.is_transposed ? s.scattered() : s.slid();
            is_possible = is_possible && positions > 0 && s.input + s.pad_begin > 0;
            operations *= static_cast<double>(positions * s.kernel);
            c.spatial.push_back(s);
        }
        if (is_possible && operations <= most_operations) return c;
    }
}

/// Up to three operations on the value.
Scalar with_tensor(Random& random, WindowMaker& m, Scalar v, const std::string& name) {
    switch (random.between(0, 7)) {
        case 0:
            return v + m.by_channel(name);
        case 1:
            return v * m.by_channel(name);
        case 2:
            return v + m.residual(name);
        case 3:
            return v * m.residual(name);
        case 4:
            return m.leaky(v, m.by_channel(name));
        case 5:
            return v - m.residual(name);
        case 6:
            return max(v, m.by_channel(name));
        default:
            return min(m.residual(name), v);
    }
}

Scalar with_activation(Random& random, WindowMaker& m, Scalar v) {
    auto constant = [&](double value) { return m.arena.constant_scalar(value); };
    switch (random.between(0, 11)) {
        case 0:
            return relu(v);
        case 1:
            return m.leaky(v, constant(0.125));
        case 2:
            return min(max(v, constant(-1)), constant(6));
        case 3:
            return m.function(Function::Sigmoid, {v * 0.125});
        case 4:
            return m.function(Function::Tanh, {v * 0.125});
        case 5:
            return v * 0.5;
        case 6:
            return v * 3.0 + 0.25;
        case 7:
            return m.function(Function::Abs, {v});
        case 8:
            return v * m.function(Function::Sigmoid, {v * 0.5});
        case 9:
            return v * (m.function(Function::Erf, {v * std::sqrt(0.5)}) + 1.0) * 0.5;
        case 10:
            return v * min(max(v * 0.25 + 0.5, constant(0)), constant(1));
        default:
            return m.elu(v, 0.5);
    }
}

Scalar some_epilogue(Random& random, WindowMaker& m, Scalar v) {
    for (int64_t left = random.pick({0, 0, 1, 1, 2, 3}); left > 0; --left) {
        bool reads_tensor = random.between(0, 19) < 8;
        v = reads_tensor ? with_tensor(random, m, v, "e" + std::to_string(left))
                         : with_activation(random, m, v);
    }
    return v;
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

/// The number of problems: a thousand and more where the variable OLLIE_FUZZ asks for it.
int problem_count() {
    const char* text = std::getenv("OLLIE_FUZZ");
    return text == nullptr ? 40 : std::atoi(text);
}

template <typename Maker, typename Make>
Tally check_random(const std::string& call, const Make& make) {
    Tally tally;
    for (int seed = 0; seed < problem_count() && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Random random(static_cast<uint64_t>(seed));
        Maker maker;
        tally.add(check_choices(*find(call), make(random, maker), seed % 8 == 0 ? 2 : 1));
    }
    tally.print();
    return tally;
}

TEST(Random, Convolution) {
    Tally tally =
        check_random<WindowMaker>("onednn_convolution", [](Random& random, WindowMaker& m) {
            Scalar value = m.convolution(some_case(random, {}), !random.one_in(4));
            return m.define(some_epilogue(random, m, value));
        });
    EXPECT_GT(tally.accepted, tally.problems * 8 / 10);
    EXPECT_GT(tally.exact, tally.choices / 2);
}

TEST(Random, Deconvolution) {
    Tally tally =
        check_random<WindowMaker>("onednn_deconvolution", [](Random& random, WindowMaker& m) {
            Scalar value = m.deconvolution(some_case(random, {.is_transposed = true}));
            return m.define(some_epilogue(random, m, value));
        });
    EXPECT_GT(tally.accepted, tally.problems * 6 / 10);
}

TEST(Random, Pooling) {
    Tally tally = check_random<WindowMaker>("onednn_pooling", [](Random& random, WindowMaker& m) {
        auto kind = static_cast<PoolKind>(random.between(0, 3));
        Scalar value = m.pool(some_case(random, {.is_pool = true}), kind);
        return m.define(some_epilogue(random, m, value));
    });
    EXPECT_GT(tally.accepted, tally.problems * 6 / 10);
}

std::string shuffled(Random& random, std::string text) {
    for (size_t i = text.size(); i > 1; --i)
        std::swap(text[i - 1],
                  text[static_cast<size_t>(random.between(0, static_cast<int64_t>(i) - 1))]);
    return text;
}

/// Letters: x y batch, i l rows, j m columns, k p reduced.
Contraction some_contraction(Random& random) {
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
            c.extents[letter] = random.pick({1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64});
            operations *= static_cast<double>(c.extents[letter]);
        }
        c.first_is_constant = random.one_in(4);
        c.second_is_constant = !c.first_is_constant && random.one_in(2);
        if (operations <= most_operations) return c;
    }
}

Scalar some_epilogue(Random& random, ProductMaker& m, Scalar v, const Contraction& c) {
    expr::Arena& arena = m.arena;
    for (int64_t left = random.pick({0, 0, 1, 1, 2, 3}); left > 0; --left) {
        std::string name = "e" + std::to_string(left);
        std::string last = c.result.substr(c.result.size() - 1);
        std::string letters = random.one_in(2) ? last : c.result;
        if (random.one_in(6)) letters = c.result.substr(0, 1);
        Scalar other = m.read(name, letters, random.one_in(2));
        switch (random.between(0, 6)) {
            case 0:
                v = v + other;
                break;
            case 1:
                v = v * other;
                break;
            case 2:
                v = relu(v);
                break;
            case 3:
                v = arena.function(Function::Sigmoid, {v * 0.125});
                break;
            case 4:
                v = arena.function(Function::Tanh, {v * 0.125});
                break;
            case 5:
                v = v * 0.5;
                break;
            case 6:
                v = v * 3.0 + 0.25;
                break;
        }
    }
    return v;
}

TEST(Random, Matmul) {
    Tally tally = check_random<ProductMaker>("onednn_matmul", [](Random& random, ProductMaker& m) {
        Contraction c = some_contraction(random);
        Scalar value = m.product(c);
        return m.define(some_epilogue(random, m, value, c));
    });
    EXPECT_GT(tally.accepted, tally.problems * 8 / 10);
}

bool is_refused(const std::string& call, const Tensor* definition) {
    for (const match::Binding& binding : bindings_of(*find(call), definition))
        if (find(call)->choices(binding)) return false;
    return true;
}

/// Nothing is left to the library where there is nothing to compute.
TEST(Empty, WindowsAreRefused) {
    for (int which = 0; which < 4; ++which) {
        SCOPED_TRACE(which);
        Case c{2, 3, 5, 1, {{7, 3, 1, 1, 1, 1}, {7, 3, 1, 1, 1, 1}}};
        if (which == 0) c.images = 0;
        if (which == 1) c.channels = 0;
        if (which == 2) c.filters = 0;
        if (which == 3) c.spatial[0] = {0, 3, 1, 1, 2, 2};
        WindowMaker m, transposed, pool;
        EXPECT_TRUE(is_refused("onednn_convolution", m.define(m.convolution(c))));
        if (which != 2) {
            EXPECT_TRUE(is_refused("onednn_pooling", pool.define(pool.pool(c, PoolKind::Maximum))));
        }
        if (which == 3) c.spatial[0] = {0, 3, 1, 1, -2, -2};
        EXPECT_TRUE(
            is_refused("onednn_deconvolution", transposed.define(transposed.deconvolution(c))));
    }
}

TEST(Empty, ProductsAreRefused) {
    for (char empty : std::string("bijk")) {
        SCOPED_TRACE(empty);
        Contraction c{"bij", "bik", "bkj", {{'b', 2}, {'i', 3}, {'j', 5}, {'k', 7}}};
        c.extents[empty] = 0;
        ProductMaker maker;
        EXPECT_TRUE(is_refused("onednn_matmul", maker.define(maker.product(c))));
    }
}

}  // namespace
}  // namespace ollie::backends::cpu
