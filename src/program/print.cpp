#include "program/print.h"

#include <fmt/ranges.h>

#include "base/text.h"
#include "expr/print.h"
#include "expr/visit.h"

namespace ollie::program {
namespace {

std::string buffer_text(const Buffer& buffer) {
    return fmt::format("{} {}: {}[{}]{}\n", name_of(buffer.role), name_text(buffer.name),
                       name_of(buffer.type), fmt::join(buffer.shape, ", "),
                       buffer.layout.is_row_major()
                           ? ""
                           : fmt::format(" order {}", fmt::join(buffer.layout.order, " ")));
}

std::string list_text(const Program& program, const std::vector<int>& buffers) {
    std::vector<std::string> names;
    for (int buffer : buffers) names.push_back(name_text(program.buffers[buffer].name));
    return fmt::format("({})", fmt::join(names, ", "));
}

std::string parameters_text(const Attributes& parameters) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : parameters)
        parts.push_back(fmt::format("{} = {}", name_text(name), to_text(value)));
    return parts.empty() ? "" : fmt::format(" {{{}}}", fmt::join(parts, ", "));
}

std::string indented(const std::string& text, std::string_view by) {
    std::string result;
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find('\n', begin), text.size());
        result += fmt::format("{}{}\n", by, text.substr(begin, end - begin));
        begin = end + 1;
    }
    return result;
}

std::string step_text(const Program& program, const Step& step) {
    std::string text =
        fmt::format("{} {}{} {} -> {}", step.kind == StepKind::Call ? "call" : "kernel",
                    name_text(step.target), parameters_text(step.parameters),
                    list_text(program, step.arguments), list_text(program, step.results));
    for (size_t i = 0; i < step.origin.size(); ++i)
        text += (i == 0 ? " from " : ", ") + quoted_text(step.origin[i]);
    text += "\n";
    if (step.meaning.outputs.empty()) return text;
    return text + indented(expr::print(without_values(step.meaning)), "  ");
}

std::string trail_text(const TrailStep& step) {
    std::string text = fmt::format("  {} at {}", step.rule, step.place);
    if (!step.parameters.empty()) text += fmt::format(" with {}", step.parameters);
    text += "\n";
    for (const std::string& fact : step.facts) text += fmt::format("    because {}\n", fact);
    return text + indented(step.after, "    ");
}

}  // namespace

std::string_view name_of(Role role) {
    switch (role) {
        case Role::Input:
            return "input";
        case Role::Output:
            return "output";
        case Role::Constant:
            return "constant";
        case Role::Scratch:
            return "scratch";
    }
    CHECK(false);
}

expr::Expr without_values(const expr::Expr& meaning) {
    auto arena = std::make_shared<expr::Arena>();
    expr::Expr copy = expr::copy_to(arena, meaning);
    std::map<const expr::Tensor*, const expr::Tensor*> bare;
    for (const expr::Tensor* tensor : expr::tensors_of(copy))
        if (tensor->kind == expr::TensorKind::Weight && tensor->values)
            bare[tensor] = arena->weight(tensor->name, tensor->type, tensor->shape());
    return expr::replace(copy, bare);
}

std::string print(const Program& program) {
    std::string text = "program\n";
    for (const Buffer& buffer : program.buffers) text += buffer_text(buffer);
    text += "inputs " + list_text(program, program.inputs) + "\n";
    text += "outputs " + list_text(program, program.outputs) + "\n";
    for (const Step& step : program.steps) text += step_text(program, step);
    return text;
}

std::string print(const Program& program, const Plan& plan) {
    std::vector<int> first(program.buffers.size(), -1);
    std::vector<int> last(program.buffers.size(), -1);
    for (size_t i = 0; i < program.steps.size(); ++i)
        for (const std::vector<int>* list :
             {&program.steps[i].results, &program.steps[i].arguments})
            for (int buffer : *list) {
                if (first[buffer] < 0) first[buffer] = static_cast<int>(i);
                last[buffer] = static_cast<int>(i);
            }
    std::string text = fmt::format("arena {} bytes\n", plan.arena_bytes);
    for (size_t i = 0; i < program.buffers.size(); ++i)
        if (plan.offsets[i] >= 0)
            text += fmt::format("{}: offset {}, {} bytes, steps {} to {}\n",
                                name_text(program.buffers[i].name), plan.offsets[i],
                                program.buffers[i].bytes(), first[i], last[i]);
    for (size_t i = 0; i < plan.scratch_offsets.size(); ++i)
        if (plan.scratch_offsets[i] >= 0)
            text += fmt::format("workspace of step {}: offset {}\n", i, plan.scratch_offsets[i]);
    return text;
}

std::string print_derivations(const Program& program) {
    std::string text;
    for (const Derivation& derivation : program.derivations) {
        text += fmt::format("derivation {}\n", name_text(derivation.name));
        text += indented(derivation.before, "    ");
        for (const TrailStep& step : derivation.trail) text += trail_text(step);
        text +=
            fmt::format("  chosen: {}\n  identity: {}\n", derivation.chosen, derivation.identity);
    }
    return text;
}

}  // namespace ollie::program
