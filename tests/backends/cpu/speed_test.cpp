#include <chrono>

#include "backends/cpu/products.h"
#include "backends/cpu/windows.h"

/// What a search pays for asking: it asks thousands of times, mostly about what it has seen.
namespace ollie::backends::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work, int rounds) {
    auto begin = Clock::now();
    for (int i = 0; i < rounds; ++i) work();
    return std::chrono::duration<double>(Clock::now() - begin).count() / rounds;
}

double total_first = 0;
double total_again = 0;

/// Time to match all patterns of all calls, to list choices the first time and again, to estimate.
void report(const std::string& name, const Tensor* definition) {
    std::vector<std::pair<const LibraryCall*, std::shared_ptr<const match::Pattern>>> patterns;
    for (const LibraryCall* call : catalogue())
        for (const std::string& text : call->patterns)
            patterns.emplace_back(call, match::parse_pattern(text));
    double matching = seconds_of(
        [&] {
            match::Subject subject(definition);
            for (auto& [call, pattern] : patterns) match::match(subject, *pattern);
        },
        20);
    std::printf("%s: %zu patterns in %.1f us\n", name.c_str(), patterns.size(), matching * 1e6);
    for (const LibraryCall* call : catalogue())
        for (const match::Binding& binding : bindings_of(*call, definition)) {
            double first = seconds_of([&] { call->choices(binding); }, 1);
            auto choices = call->choices(binding);
            double again = seconds_of([&] { call->choices(binding); }, 20);
            double estimate = 0;
            if (choices)
                for (const CallChoice& choice : *choices)
                    estimate += seconds_of([&] { call->estimate(binding, choice, {}); }, 20);
            if (!choices) continue;
            std::printf("  %s: %zu choices, first %.1f us, again %.1f us, all estimates %.2f us\n",
                        call->name.c_str(), choices->size(), first * 1e6, again * 1e6,
                        estimate * 1e6);
            total_first += first;
            total_again += again;
        }
}

TEST(Speed, OfAsking) {
    WindowMaker m;
    Case c{1, 64, 64, 1, {{56, 3, 1, 1, 1, 1}, {56, 3, 1, 1, 1, 1}}};
    report("convolution", m.define(relu(m.convolution(c) + m.by_channel("b"))));
    WindowMaker transposed;
    report("transposed convolution",
           transposed.define(transposed.deconvolution(
               {1, 56, 1, 1, {{56, 9, 4, 1, 4, 1}, {56, 9, 4, 1, 4, 1}}})));
    ProductMaker product;
    report("product", product.define(product.product(
                          {"bij", "bik", "bkj", {{'b', 36}, {'i', 196}, {'j', 64}, {'k', 64}}})));
    ProductMaker wide;
    report("product of many axes",
           wide.define(wide.product(
               {"nuvfrs",
                "ncuv",
                "fcrs",
                {{'n', 2}, {'u', 14}, {'v', 14}, {'f', 8}, {'r', 3}, {'s', 3}, {'c', 64}}})));
    // What the library said is remembered.
    EXPECT_LT(total_again, total_first / 2);
}

}  // namespace
}  // namespace ollie::backends::cpu
