#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <set>

#include "backends/cpu/products.h"
#include "backends/cpu/windows.h"

namespace {

std::atomic<int64_t> allocated_bytes{0};

void* counted(std::size_t bytes) {
    allocated_bytes += static_cast<int64_t>(bytes);
    void* memory = std::malloc(bytes > 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace ollie::backends::cpu {
namespace {

struct Prepared {
    std::unique_ptr<PreparedCall> call;
    std::vector<HostArray> stored;
    std::vector<void*> arguments;
    std::vector<void*> results;
    HostArray scratch;

    Prepared(const std::string& name, const Tensor* definition, const CallChoice& choice) {
        Arrays arrays = values_for(definition);
        call = std::make_unique<PreparedCall>(*find(name), definition, choice, arrays);
        for (const Tensor* argument : choice.arguments) stored.push_back(arrays.at(argument));
        for (size_t i = 0; i < stored.size(); ++i) {
            bool is_packed = call->program.buffers[i].values != nullptr;
            arguments.push_back(is_packed ? nullptr : stored[i].data());
        }
        stored.emplace_back(ElementType::F32, definition->shape());
        results = {stored.back().data()};
        scratch = HostArray(ElementType::U8, {call->instance->scratch_bytes() + 1});
    }

    void run() { call->instance->run(arguments, results, scratch.data()); }
};

void check_allocations(const std::string& name, const Tensor* definition) {
    for (const match::Binding& binding : bindings_of(*find(name), definition)) {
        auto choices = find(name)->choices(binding);
        if (!choices) continue;
        for (const CallChoice& choice : *choices) {
            Prepared prepared(name, definition, choice);
            prepared.run();
            int64_t before = allocated_bytes;
            prepared.run();
            int64_t bytes = allocated_bytes - before;
            std::printf("%-22s %-28s %6lld bytes on the heap, scratch %lld\n", name.c_str(),
                        prepared.call->instance->implementation().c_str(),
                        static_cast<long long>(bytes),
                        static_cast<long long>(prepared.call->instance->scratch_bytes()));
            // The library's own bookkeeping; no tensor, and no workspace of a thread.
            EXPECT_LT(bytes, 8192);
        }
    }
}

TEST(Prepared, RunsInTheMemoryThatItIsGiven) {
    set_threads(1);
    WindowMaker convolution;
    Case c{1, 64, 64, 1, {{28, 3, 1, 1, 1, 1}, {28, 3, 1, 1, 1, 1}}};
    check_allocations("onednn_convolution", convolution.define(relu(convolution.convolution(c) +
                                                                    convolution.by_channel("b"))));
    WindowMaker transposed;
    Case t{1, 32, 16, 1, {{14, 4, 2, 1, 1, 1}, {14, 4, 2, 1, 1, 1}}};
    check_allocations("onednn_deconvolution", transposed.define(transposed.deconvolution(t)));
    WindowMaker pool;
    check_allocations("onednn_pooling", pool.define(pool.pool(c, PoolKind::Mean)));
    ProductMaker product;
    check_allocations("onednn_matmul",
                      product.define(product.product(
                          {"bij", "bik", "bkj", {{'b', 4}, {'i', 65}, {'j', 64}, {'k', 63}}})));
}

/// The library and this program have one OpenMP, so one team of threads.
TEST(Prepared, ThereIsOneTeamOfThreads) {
    std::ifstream maps("/proc/self/maps");
    std::set<std::string> libraries;
    for (std::string line; std::getline(maps, line);) {
        std::string file = line.substr(line.rfind('/') + 1);
        if (file.find("omp") != std::string::npos && file.find(".so") != std::string::npos)
            libraries.insert(file);
    }
    EXPECT_EQ(libraries.size(), 1u) << testing::PrintToString(libraries);
}

}  // namespace
}  // namespace ollie::backends::cpu
