#include "optimize/compile.h"

#include <algorithm>

#include "base/hash.h"
#include "base/parallel.h"
#include "expr/canonical.h"

namespace ollie::optimize {
namespace {

constexpr size_t schedules_tried = 4;

/// One kernel as a program of its own.
program::Program program_of(const codegen::KernelProblem& problem, const Variant& variant) {
    program::Program result;
    program::Step step;
    step.kind = program::StepKind::Kernel;
    step.target = variant.symbol;
    step.parameters["schedule"] = variant.schedule.text();
    step.meaning = problem.group;
    std::vector<const expr::Tensor*> arguments = codegen::arguments_of(problem.group);
    auto add = [&](const expr::Tensor* tensor, const Layout& layout, program::Role role) {
        int index = static_cast<int>(result.buffers.size());
        result.buffers.push_back({tensor->name, tensor->type, tensor->shape(), layout, role, {}});
        (role == program::Role::Input ? result.inputs : result.outputs).push_back(index);
        return index;
    };
    for (size_t i = 0; i < arguments.size(); ++i)
        step.arguments.push_back(
            add(arguments[i], problem.argument_layouts[i], program::Role::Input));
    for (size_t i = 0; i < problem.group.outputs.size(); ++i)
        step.results.push_back(
            add(problem.group.outputs[i], problem.result_layouts[i], program::Role::Output));
    result.steps.push_back(std::move(step));
    result.code_target = codegen::target_name();
    return result;
}

}  // namespace

std::string KernelLibrary::name_of(const codegen::KernelProblem& problem) {
    Hasher hasher;
    hasher.add(expr::key(problem.group));
    for (const Layout& layout : problem.argument_layouts) hasher.add(layout.text());
    for (const Layout& layout : problem.result_layouts) hasher.add(layout.text());
    for (const expr::Tensor* argument : codegen::arguments_of(problem.group))
        hasher.add(argument->name);
    return "kernel_" + hasher.key().hex();
}

void KernelLibrary::add(const codegen::KernelProblem& problem) {
    auto [found, is_new] = entries_.try_emplace(name_of(problem));
    if (!is_new) return;
    Entry& entry = found->second;
    entry.problem = problem;
    std::vector<codegen::Schedule> schedules;
    try {
        schedules = codegen::schedules(problem, options_.threads);
    } catch (const InternalError& error) {
        entry.failure = error.what();
    }
    if (schedules.size() > schedules_tried) schedules.resize(schedules_tried);
    for (size_t i = 0; i < schedules.size(); ++i)
        entry.variants.push_back(
            {schedules[i], found->first + "_" + std::to_string(i), {}, -1, i == 0, {}});
}

void KernelLibrary::widen(const codegen::KernelProblem& problem) {
    for (Variant& variant : entries_.at(name_of(problem)).variants)
        variant.is_wanted = variant.is_wanted || times_.may_measure() ||
                            times_.find(program_of(problem, variant)).has_value();
}

void KernelLibrary::compile() {
    struct Job {
        const codegen::KernelProblem* problem;
        Variant* variant;
    };
    std::vector<Job> jobs;
    for (auto& [name, entry] : entries_)
        for (Variant& variant : entry.variants)
            if (variant.is_wanted && variant.object.empty() && variant.failure.empty())
                jobs.push_back({&entry.problem, &variant});
    parallel_for(static_cast<int64_t>(jobs.size()), [&](int64_t i) {
        codegen::KernelProblem problem = *jobs[i].problem;
        problem.schedule = jobs[i].variant->schedule;
        problem.symbol = jobs[i].variant->symbol;
        try {
            jobs[i].variant->object = codegen::compile(problem, {}, options_.cache_folder);
        } catch (const InternalError& error) {
            jobs[i].variant->failure = error.what();
        }
    });
    if (jobs.empty()) return;
    std::vector<std::vector<std::byte>> objects;
    for (auto& [name, entry] : entries_)
        for (Variant& variant : entry.variants)
            if (!variant.object.empty()) objects.push_back(variant.object);
    if (!objects.empty()) code_ = codegen::link(objects);
}

double KernelLibrary::measured(const codegen::KernelProblem& problem, const Variant& variant,
                               double best) {
    program::Program alone = program_of(problem, variant);
    if (!times_.find(alone)) alone.code = codegen::link({variant.object});
    return times_.of(alone, best);
}

void KernelLibrary::measure() {
    for (auto& [name, entry] : entries_) {
        auto wanted = std::count_if(entry.variants.begin(), entry.variants.end(),
                                    [](const Variant& v) { return !v.object.empty(); });
        if (wanted < 2) continue;
        double best = std::numeric_limits<double>::infinity();
        for (Variant& variant : entry.variants) {
            if (variant.object.empty()) continue;
            if (variant.measured < 0) variant.measured = measured(entry.problem, variant, best);
            if (variant.measured > 0) best = std::min(best, variant.measured);
        }
        std::stable_sort(entry.variants.begin(), entry.variants.end(),
                         [](const Variant& x, const Variant& y) {
                             bool x_known = x.measured >= 0;
                             bool y_known = y.measured >= 0;
                             return x_known != y_known ? x_known : x.measured < y.measured;
                         });
    }
}

const KernelLibrary::Entry& KernelLibrary::entry_of(const codegen::KernelProblem& problem) const {
    auto found = entries_.find(name_of(problem));
    CHECK(found != entries_.end(), "the kernel was never added");
    return found->second;
}

const std::vector<Variant>& KernelLibrary::variants(const codegen::KernelProblem& problem) const {
    return entry_of(problem).variants;
}

OrRefusal<bool> KernelLibrary::choose(Fragment& fragment) const {
    for (Kernel& kernel : fragment.kernels) {
        const std::vector<Variant>& all = variants(kernel.problem);
        auto best = std::find_if(all.begin(), all.end(),
                                 [](const Variant& v) { return !v.object.empty(); });
        if (best == all.end())
            return refuse("no kernel compiles: {}",
                          all.empty() ? entry_of(kernel.problem).failure : all.front().failure);
        kernel.problem.schedule = best->schedule;
        kernel.problem.symbol = best->symbol;
        program::Step& step = fragment.program.steps[kernel.step];
        step.target = best->symbol;
        step.parameters["schedule"] = best->schedule.text();
        step.cost.measured = best->measured;
    }
    fragment.program.code = code_;
    fragment.program.code_target = codegen::target_name();
    return true;
}

std::vector<std::byte> KernelLibrary::code_for(const program::Program& program) const {
    std::map<std::string, const Variant*> by_symbol;
    for (const auto& [name, entry] : entries_)
        for (const Variant& variant : entry.variants) by_symbol[variant.symbol] = &variant;
    std::map<std::string, const Variant*> used;
    for (const program::Step& step : program.steps)
        if (step.kind == program::StepKind::Kernel) used[step.target] = by_symbol.at(step.target);
    std::vector<std::vector<std::byte>> objects;
    for (const auto& [symbol, variant] : used) objects.push_back(variant->object);
    return objects.empty() ? std::vector<std::byte>{} : codegen::link(objects);
}

}  // namespace ollie::optimize
