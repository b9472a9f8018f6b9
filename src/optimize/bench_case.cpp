#include "optimize/bench_case.h"

#include <algorithm>

#include <unistd.h>

#include "base/hash.h"
#include "expr/evaluate.h"
#include "expr/visit.h"
#include "optimize/exact.h"
#include "optimize/timing.h"
#include "search/estimate.h"

namespace ollie::optimize {

using namespace expr;

namespace {

constexpr double most_operations = 4e11;
constexpr int64_t sampled_elements = 64;

std::vector<int64_t> point_of(int64_t index, const Tensor* tensor) {
    std::vector<int64_t> point(tensor->rank());
    for (size_t i = tensor->rank(); i-- > 0;) {
        point[i] = tensor->axes[i].lo + index % tensor->axes[i].extent();
        index /= tensor->axes[i].extent();
    }
    return point;
}

/// First, last, and some between; all where there are few.
std::vector<int64_t> sample(int64_t count) {
    std::vector<int64_t> elements;
    for (int64_t i = 0; i < std::min(count, sampled_elements); ++i) {
        if (count <= sampled_elements || i == 0)
            elements.push_back(i);
        else if (i == 1)
            elements.push_back(count - 1);
        else
            elements.push_back(
                static_cast<int64_t>(mix(static_cast<uint64_t>(i)) % static_cast<uint64_t>(count)));
    }
    return elements;
}

void add_samples(BenchCase& problem, const Expr& whole, const Bindings& bindings) {
    PointEvaluator evaluator(whole, bindings);
    for (const Tensor* output : whole.outputs) {
        std::vector<int64_t> elements = sample(element_count(output->shape()));
        HostArray values(ElementType::F64, {static_cast<int64_t>(elements.size())});
        for (size_t i = 0; i < elements.size(); ++i)
            values.set(static_cast<int64_t>(i),
                       evaluator.at(output, point_of(elements[i], output)));
        problem.exact_outputs.push_back(std::move(values));
        problem.sampled.push_back(std::move(elements));
    }
}

}  // namespace

bool is_too_dear(const Expr& whole) {
    double operations = 0;
    double largest = 0;
    for (const Tensor* definition : definitions_of(whole)) {
        operations += search::operations(definition);
        largest = std::max(largest, 8.0 * static_cast<double>(element_count(definition->shape())));
    }
    double memory =
        static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return operations > most_operations || 4 * largest > memory;
}

BenchCase bench_case(const std::filesystem::path& model, const Expr& whole,
                     const program::Program& boundary, uint64_t seed, const std::string& cache) {
    BenchCase problem;
    problem.model = model.string();
    std::vector<HostArray> inputs = random_inputs(boundary, seed);
    for (size_t i = 0; i < inputs.size(); ++i)
        problem.inputs.push_back({boundary.buffers[boundary.inputs[i]].name, std::move(inputs[i])});
    Bindings bindings;
    for (const NamedArray& input : problem.inputs) bindings[input.name] = &input.array;
    if (is_too_dear(whole))
        add_samples(problem, whole, bindings);
    else
        problem.exact_outputs = ExactEvaluation(whole, cache).run(bindings);
    return problem;
}

}  // namespace ollie::optimize
