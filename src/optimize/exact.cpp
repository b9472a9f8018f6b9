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

struct WideKernel {
    codegen::KernelProblem problem;
    std::vector<std::byte> object;  ///< Empty: cannot be generated.
};

}  // namespace

struct ExactEvaluation::Impl {
    Expr whole;
    Program program;
    std::map<const Tensor*, int> buffers;
    std::map<std::string, WideKernel> kernels;  ///< By text.
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
        step.kind = program::StepKind::Kernel;
        auto [found, is_new] = kernels.try_emplace(print(part.expr));
        if (is_new) found->second = wide_kernel(part.expr);
        step.target = found->second.problem.symbol;
        program.steps.push_back(std::move(step));
    }

    WideKernel wide_kernel(const Expr& part) const {
        WideKernel kernel;
        codegen::KernelProblem& problem = kernel.problem;
        problem.group = part;
        for (const Tensor* argument : codegen::arguments_of(part))
            problem.argument_layouts.push_back(Layout::row_major(argument->rank()));
        problem.result_layouts.push_back(Layout::row_major(part.outputs[0]->rank()));
        problem.symbol = "exact_" + std::to_string(kernels.size());
        return kernel;
    }

    /// What cannot be generated is evaluated.
    void compile(const std::string& cache) {
        std::vector<WideKernel*> all;
        for (auto& [text, kernel] : kernels) all.push_back(&kernel);
        parallel_for(static_cast<int64_t>(all.size()), [&](int64_t i) {
            codegen::KernelProblem& problem = all[i]->problem;
            try {
                problem.schedule = codegen::schedules(problem, threads()).front();
                all[i]->object = codegen::compile(problem, {}, cache);
            } catch (const InternalError&) {
                all[i]->object.clear();
            }
        });
        std::vector<std::vector<std::byte>> objects;
        for (WideKernel* kernel : all)
            if (!kernel->object.empty())
                objects.push_back(std::move(kernel->object));
            else
                evaluate_instead(kernel->problem);
        if (!objects.empty()) program.code = codegen::link(objects);
        program.code_target = codegen::target_name();
    }

    void evaluate_instead(const codegen::KernelProblem& problem) {
        for (Step& step : program.steps) {
            if (step.target != problem.symbol) continue;
            step.kind = program::StepKind::Call;
            step.target = "reference";
            std::map<const Tensor*, const Tensor*> named;
            std::vector<const Tensor*> arguments = codegen::arguments_of(step.meaning);
            for (size_t i = 0; i < arguments.size(); ++i)
                named[arguments[i]] =
                    step.meaning.arena->input(program.buffers[step.arguments[i]].name,
                                              arguments[i]->type, arguments[i]->shape());
            step.meaning = replace(step.meaning, named);
        }
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

ExactRegions::ExactRegions(const Expr& whole, std::vector<std::vector<Region>> regions,
                           const std::string& cache)
    : regions_(std::move(regions)) {
    for (const std::vector<Region>& part : regions_)
        evaluations_.emplace_back(restricted(whole, part), cache);
}

void ExactRegions::run(const Bindings& inputs, const Visit& visit) {
    for (size_t i = 0; i < regions_.size(); ++i) {
        std::vector<HostArray> exact = evaluations_[i].run(inputs);
        for (size_t k = 0; k < exact.size(); ++k) visit(k, exact[k], regions_[i][k]);
    }
}

}  // namespace ollie::optimize
