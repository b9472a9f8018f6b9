#include "optimize/step_alone.h"

#include <map>
#include <vector>

#include <fmt/ranges.h>

#include "expr/build.h"
#include "expr/visit.h"
#include "optimize/deviation.h"
#include "optimize/exact.h"
#include "optimize/input_patterns.h"
#include "runtime/session.h"
#include "tensor/strided_copy.h"

namespace ollie::optimize {
namespace {

using namespace expr;
using program::Buffer;
using program::Role;

HostArray stored(const HostArray& array, const Layout& from, const Layout& to) {
    HostArray result(array.type(), array.shape());
    StridedCopy::between(size_of(array.type()), array.shape(), from, to)
        .run(array.data(), result.data());
    return result;
}

/// What the one step leaves, row-major.
std::vector<HostArray> results(const program::Program& program,
                               const std::vector<HostArray>& inputs) {
    std::vector<HostArray> laid_out;
    for (size_t i = 0; i < inputs.size(); ++i)
        laid_out.push_back(stored(inputs[i], Layout::row_major(inputs[i].shape().size()),
                                  program.buffers[program.inputs[i]].layout));
    runtime::Session session(std::make_shared<const program::Program>(program));
    std::vector<HostArray> outputs = session.run(laid_out);
    for (size_t k = 0; k < outputs.size(); ++k)
        outputs[k] = stored(outputs[k], program.buffers[program.outputs[k]].layout,
                            Layout::row_major(outputs[k].shape().size()));
    return outputs;
}

/// Weights are inputs, too: their values are those of the program's constants.
Expr of_inputs(const Expr& meaning) {
    Expr copy = copy_to(std::make_shared<Arena>(), meaning);
    std::map<const Tensor*, const Tensor*> inputs;
    for (const Tensor* tensor : tensors_of(copy))
        if (tensor->kind == TensorKind::Weight)
            inputs[tensor] = copy.arena->input(tensor->name, tensor->type, tensor->shape());
    return replace(copy, inputs);
}

}  // namespace

program::Program alone(const program::Program& program, const program::Step& step) {
    program::Program result;
    program::Step own = step;
    std::map<int, int> moved;
    auto move = [&](int& index, bool is_result) {
        auto [found, is_new] = moved.try_emplace(index, static_cast<int>(result.buffers.size()));
        if (is_new) {
            Buffer buffer = program.buffers[index];
            bool is_constant = buffer.role == Role::Constant && !is_result;
            if (!is_constant) buffer.role = is_result ? Role::Output : Role::Input;
            result.buffers.push_back(std::move(buffer));
            if (is_result) result.outputs.push_back(found->second);
            if (!is_result && !is_constant) result.inputs.push_back(found->second);
        }
        index = found->second;
    };
    for (int& argument : own.arguments) move(argument, false);
    for (int& index : own.results) move(index, true);
    result.steps.push_back(std::move(own));
    return result;
}

double error_alone(const program::Program& program, const program::Step& step,
                   const Options& options, double most_operations) {
    program::Program single = alone(program, step);
    single.code = program.code;
    single.code_target = program.code_target;
    std::vector<HostArray> inputs = inputs_of(single, input_patterns().front(), options.seed);
    std::vector<HostArray> actual = results(single, inputs);
    Bindings bindings;
    for (size_t i = 0; i < inputs.size(); ++i)
        bindings[single.buffers[single.inputs[i]].name] = &inputs[i];
    for (const Buffer& buffer : single.buffers)
        if (buffer.values) bindings[buffer.name] = buffer.values.get();
    Expr meaning = of_inputs(step.meaning);
    ExactRegions exact(meaning, sampled_regions(meaning, most_operations), options.cache_folder);
    std::vector<Deviation> deviations(actual.size());
    exact.run(bindings, [&](size_t k, const HostArray& values, const Region& region) {
        deviations[k].add(actual[k], values, region);
    });
    double worst = 0;
    for (const Deviation& deviation : deviations) worst = std::max(worst, deviation.of_scale());
    return worst;
}

std::string name_of(const program::Program& program, const program::Step& step) {
    std::vector<std::string> names;
    for (int index : step.results) names.push_back(program.buffers[index].name);
    bool is_call = step.kind == program::StepKind::Call;
    return fmt::format("{}({})", is_call ? "call " + step.target : "kernel",
                       fmt::join(names, ", "));
}

}  // namespace ollie::optimize
