#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "backends/cpu/calls.h"
#include "base/parallel.h"
#include "expr/parse.h"
#include "match/pattern.h"
#include "program/program.h"

/// Prepared calls beside the library used plainly: what a step costs over its primitive, and what
/// each choice of layouts costs. OMP_NUM_THREADS says how many threads there are.
namespace {

using namespace ollie;

struct Problem {
    std::string name;
    int64_t channels, filters, extent, kernel, stride;

    int64_t pad() const { return kernel / 2; }
    int64_t positions() const { return (extent + 2 * pad() - kernel) / stride + 1; }
    double operations() const {
        return 2.0 * static_cast<double>(channels * filters * kernel * kernel * positions() *
                                         positions());
    }
    std::string text() const {
        return fmt::format(
            "input A: f32[1, {c}, {e}, {e}]\nweight K: f32[{f}, {c}, {k}, {k}]\n"
            "output Y: f32[n:1, f:{f}, h:{p}, w:{p}] = sum[c:{c}, r:{k}, s:{k}] "
            "A[n, c, {t}*h + r - {b}, {t}*w + s - {b} | 0] * K[f, c, r, s]\n",
            fmt::arg("c", channels), fmt::arg("e", extent), fmt::arg("f", filters),
            fmt::arg("k", kernel), fmt::arg("p", positions()), fmt::arg("t", stride),
            fmt::arg("b", pad()));
    }
};

const Problem problems[] = {
    {"64x56x56 3x3", 64, 64, 56, 3, 1},     {"128x28x28 3x3", 128, 128, 28, 3, 1},
    {"512x7x7 3x3", 512, 512, 7, 3, 1},     {"3x224x224 7x7 stride 2", 3, 64, 224, 7, 2},
    {"256x14x14 1x1", 256, 1024, 14, 1, 1}, {"32 to 1, 5x5 224x224", 32, 1, 224, 5, 1},
};

HostArray filled(const Shape& shape) {
    HostArray array(ElementType::F32, shape);
    for (float& value : array.as<float>()) value = 0.5f;
    return array;
}

void report(benchmark::State& state, const Problem& problem, const std::string& implementation) {
    state.SetLabel(implementation);
    state.counters["GF/s"] = benchmark::Counter(problem.operations() / 1e9,
                                                benchmark::Counter::kIsIterationInvariantRate);
}

void plain(benchmark::State& state, const Problem& p) {
    using namespace dnnl;
    engine engine(engine::kind::cpu, 0);
    stream stream(engine);
    auto tensor = [&](std::vector<int64_t> dims, memory::format_tag tag) {
        return memory::desc(dims, memory::data_type::f32, tag);
    };
    convolution_forward::primitive_desc descriptor(
        engine, prop_kind::forward_inference, algorithm::convolution_direct,
        tensor({1, p.channels, p.extent, p.extent}, memory::format_tag::nhwc),
        tensor({p.filters, p.channels, p.kernel, p.kernel}, memory::format_tag::any),
        tensor({1, p.filters, p.positions(), p.positions()}, memory::format_tag::nhwc),
        {p.stride, p.stride}, {p.pad(), p.pad()}, {p.pad(), p.pad()});
    std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, {descriptor.src_desc(), engine}},
        {DNNL_ARG_WEIGHTS, {descriptor.weights_desc(), engine}},
        {DNNL_ARG_DST, {descriptor.dst_desc(), engine}}};
    for (auto& [role, memory] : arguments) {
        auto* values = static_cast<float*>(memory.get_data_handle());
        std::fill(values, values + memory.get_desc().get_size() / sizeof(float), 0.5f);
    }
    convolution_forward primitive(descriptor);
    for (auto _ : state) {
        primitive.execute(stream, arguments);
        stream.wait();
    }
    report(state, p, descriptor.impl_info_str());
}

void prepared(benchmark::State& state, const Problem& problem, size_t which) {
    expr::Expr expr = expr::parse(problem.text());
    const expr::Tensor* definition = expr.outputs[0];
    const backends::LibraryCall& call = *backends::cpu::find("onednn_convolution");
    std::vector<backends::CallChoice> choices;
    for (size_t i = 0; i < call.patterns.size(); ++i) {
        auto matched = match::match(definition, *match::parse_pattern(call.patterns[i]));
        auto* binding = std::get_if<match::Binding>(&matched);
        if (binding == nullptr) continue;
        binding->pattern = static_cast<int>(i);
        if (auto found = call.choices(*binding))
            choices.insert(choices.end(), found->begin(), found->end());
    }
    if (which >= choices.size()) return state.SkipWithError("no such choice");
    const backends::CallChoice& choice = choices[which];
    program::Program program;
    program::Step step;
    step.target = call.name;
    step.parameters = choice.parameters;
    for (size_t i = 0; i < 2; ++i) {
        const expr::Tensor* tensor = choice.arguments[i];
        program.buffers.push_back({tensor->name, tensor->type, tensor->shape(),
                                   choice.argument_layouts[i], program::Role::Input, nullptr});
    }
    program.buffers[1].role = program::Role::Constant;
    program.buffers[1].values = std::make_shared<const HostArray>(filled(program.buffers[1].shape));
    program.buffers.push_back({definition->name, definition->type, definition->shape(),
                               choice.result_layout, program::Role::Output, nullptr});
    step.arguments = {0, 1};
    step.results = {2};
    program.steps.push_back(step);
    auto instance = call.prepare(program.steps[0], program);
    HostArray source = filled(program.buffers[0].shape), result = filled(program.buffers[2].shape);
    HostArray scratch(ElementType::U8, {instance->scratch_bytes() + 1});
    std::vector<void*> arguments{source.data(), nullptr}, results{result.data()};
    for (auto _ : state) instance->run(arguments, results, scratch.data());
    report(state, problem,
           fmt::format("{} [{}] -> [{}]", instance->implementation(),
                       choice.argument_layouts[0].text(), choice.result_layout.text()));
}

int register_all() {
    for (const Problem& problem : problems) {
        benchmark::RegisterBenchmark((problem.name + ", plain").c_str(), plain, problem);
        for (size_t which = 0; which < (problem.filters == 1 ? 2 : 3); ++which)
            benchmark::RegisterBenchmark(fmt::format("{}, choice {}", problem.name, which).c_str(),
                                         prepared, problem, which);
    }
    return 0;
}

const int registered = register_all();

}  // namespace
