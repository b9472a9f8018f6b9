#include "optimize/exact.h"

#include <map>

#include "base/parallel.h"
#include "codegen/codegen.h"
#include "expr/build.h"
#include "expr/print.h"
#include "expr/visit.h"
#include "optimize/fragment.h"
#include "runtime/session.h"

namespace ollie::optimize {
namespace {

using namespace expr;
using program::Buffer;
using program::Program;
using program::Role;
using program::Step;

ElementType widened(ElementType type) { return type == ElementType::F32 ? ElementType::F64 : type; }

HostArray widened(const HostArray& array) {
    if (array.type() != ElementType::F32) return array;
    HostArray wide(ElementType::F64, array.shape());
    auto from = array.as<float>();
    auto to = wide.as<double>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    return wide;
}

/// One definition on its own: inputs a0, a1, ..., result y, floats wide. Equal for equal
/// definitions of different names.
struct Alone {
    Expr expr;
    std::vector<const Tensor*> sources;  ///< Of the whole, as a0, a1, ...
};

Alone alone(const Tensor* definition) {
    Alone result;
    Expr isolated = isolate({definition}, {definition});
    std::map<std::string, const Tensor*> by_name;
    for (const Tensor* source : sources_of(definition)) by_name[source->name] = source;
    std::map<const Tensor*, const Tensor*> renamed;
    for (const Tensor* tensor : codegen::arguments_of(isolated)) {
        result.sources.push_back(by_name.at(tensor->name));
        renamed[tensor] = isolated.arena->input("a" + std::to_string(renamed.size()),
                                                widened(tensor->type), tensor->shape());
    }
    result.expr = replace(isolated, renamed);
    const Tensor*& output = result.expr.outputs[0];
    output = isolated.arena->define("y", widened(output->type), output->axes, output->body);
    return result;
}

}  // namespace

struct ExactEvaluation::Impl {
    Expr whole;
    Program program;
    std::map<const Tensor*, int> buffers;
    std::map<std::string, codegen::KernelProblem> kernels;  ///< By text.
    std::unique_ptr<runtime::Session> session;

    int buffer_of(const Tensor* tensor) {
        auto [found, is_new] =
            buffers.try_emplace(tensor, static_cast<int>(program.buffers.size()));
        if (!is_new) return found->second;
        Buffer buffer{tensor->name,    widened(tensor->type),
                      tensor->shape(), Layout::row_major(tensor->rank()),
                      Role::Scratch,   nullptr};
        if (tensor->kind == TensorKind::Input) {
            buffer.role = Role::Input;
            program.inputs.push_back(found->second);
        } else if (tensor->kind == TensorKind::Weight) {
            CHECK(tensor->values != nullptr, "{} has no values", tensor->name);
            buffer.role = Role::Constant;
            buffer.values = std::make_shared<const HostArray>(widened(*tensor->values));
        }
        program.buffers.push_back(std::move(buffer));
        return found->second;
    }

    void add_step(const Tensor* definition) {
        Alone part = alone(definition);
        Step step;
        step.meaning = part.expr;
        for (const Tensor* source : part.sources) step.arguments.push_back(buffer_of(source));
        step.results.push_back(buffer_of(definition));
        codegen::KernelProblem problem;
        problem.group = part.expr;
        for (const Tensor* argument : codegen::arguments_of(part.expr))
            problem.argument_layouts.push_back(Layout::row_major(argument->rank()));
        problem.result_layouts.push_back(Layout::row_major(definition->rank()));
        problem.schedule = codegen::schedules(problem, threads()).front();
        problem.symbol = "exact_" + std::to_string(kernels.size());
        auto [found, is_new] = kernels.try_emplace(print(part.expr), std::move(problem));
        step.kind = program::StepKind::Kernel;
        step.target = found->second.symbol;
        program.steps.push_back(std::move(step));
    }

    void compile(const std::string& cache) {
        std::vector<const codegen::KernelProblem*> all;
        for (const auto& [text, problem] : kernels) all.push_back(&problem);
        std::vector<std::vector<std::byte>> objects(all.size());
        parallel_for(static_cast<int64_t>(all.size()),
                     [&](int64_t i) { objects[i] = codegen::compile(*all[i], {}, cache); });
        program.code = codegen::link(objects);
        program.code_target = codegen::target_name();
    }
};

ExactEvaluation::ExactEvaluation(const Expr& whole, const std::string& cache)
    : impl_(std::make_unique<Impl>()) {
    impl_->whole = whole;
    for (const Tensor* tensor : tensors_of(whole))
        if (tensor->kind == TensorKind::Input) impl_->buffer_of(tensor);
    for (const Tensor* definition : definitions_of(whole)) impl_->add_step(definition);
    for (const Tensor* output : whole.outputs) {
        int index = impl_->buffer_of(output);
        Buffer& buffer = impl_->program.buffers[index];
        if (buffer.role == Role::Scratch) buffer.role = Role::Output;
        impl_->program.outputs.push_back(index);
    }
    impl_->compile(cache);
    impl_->session =
        std::make_unique<runtime::Session>(std::make_shared<const Program>(impl_->program));
}

ExactEvaluation::~ExactEvaluation() = default;
ExactEvaluation::ExactEvaluation(ExactEvaluation&&) noexcept = default;

std::vector<HostArray> ExactEvaluation::run(const Bindings& inputs) {
    std::vector<HostArray> wide;
    for (int index : impl_->program.inputs) {
        const Buffer& buffer = impl_->program.buffers[index];
        auto found = inputs.find(buffer.name);
        if (found == inputs.end()) throw_user_error("no input \"{}\" is given", buffer.name);
        wide.push_back(widened(*found->second));
    }
    return impl_->session->run(wide);
}

}  // namespace ollie::optimize
