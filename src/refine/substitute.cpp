#include "refine/substitute.h"

#include <algorithm>

#include "expr/visit.h"

namespace ollie::refine {
namespace {

using namespace expr;
using program::Program;
using program::Step;

/// Definitions inside that have a name which a source or an output is to get.
std::map<const Tensor*, const Tensor*> moved_aside(
    const Expr& expr, const std::map<std::string, std::string>& names) {
    std::map<const Tensor*, const Tensor*> result;
    for (const Tensor* tensor : definitions_of(expr)) {
        bool is_output =
            std::find(expr.outputs.begin(), expr.outputs.end(), tensor) != expr.outputs.end();
        bool is_in_the_way = std::any_of(names.begin(), names.end(), [&](const auto& entry) {
            return entry.second == tensor->name;
        });
        if (is_output || !is_in_the_way) continue;
        std::string name = tensor->name;
        do name += "_inner";
        while (std::any_of(names.begin(), names.end(),
                           [&](const auto& entry) { return entry.second == name; }));
        result[tensor] = expr.arena->define(unused_name(expr, name), tensor->type, tensor->axes,
                                            tensor->body, tensor->origin, tensor->pinned);
    }
    return result;
}

bool contains(const std::vector<int>& list, int buffer) {
    return std::find(list.begin(), list.end(), buffer) != list.end();
}

}  // namespace

Expr renamed(const Expr& meaning, const std::map<std::string, std::string>& names) {
    auto name_of = [&](const std::string& name) {
        auto found = names.find(name);
        return found == names.end() ? name : found->second;
    };
    auto arena = std::make_shared<Arena>();
    Expr copy = copy_to(arena, meaning);
    copy = replace(copy, moved_aside(copy, names));
    std::map<std::string, const Tensor*> sources;
    std::map<const Tensor*, const Tensor*> replacements;
    for (const Tensor* tensor : tensors_of(copy))
        if (!tensor->is_definition() && name_of(tensor->name) == tensor->name)
            sources[tensor->name] = tensor;
    for (const Tensor* tensor : tensors_of(copy)) {
        if (tensor->is_definition()) continue;
        const Tensor*& source = sources[name_of(tensor->name)];
        if (source == nullptr)
            source = tensor->kind == TensorKind::Input
                         ? arena->input(name_of(tensor->name), tensor->type, tensor->shape())
                         : arena->weight(name_of(tensor->name), tensor->type, tensor->shape(),
                                         tensor->values);
        if (source != tensor) replacements[tensor] = source;
    }
    Expr result = replace(copy, replacements);
    for (const Tensor*& output : result.outputs)
        if (output->is_definition() && name_of(output->name) != output->name)
            output = arena->define(name_of(output->name), output->type, output->axes, output->body,
                                   output->origin, output->pinned);
    return result;
}

bool are_read_together(const Program& program, int x, int y) {
    return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
        return contains(step.arguments, x) && contains(step.arguments, y);
    });
}

void substitute(Program& program, int buffer, int by) {
    const std::string& old_name = program.buffers[static_cast<size_t>(buffer)].name;
    const std::string& new_name = program.buffers[static_cast<size_t>(by)].name;
    for (Step& step : program.steps) {
        if (!contains(step.arguments, buffer) && !contains(step.results, buffer)) continue;
        std::replace(step.arguments.begin(), step.arguments.end(), buffer, by);
        std::replace(step.results.begin(), step.results.end(), buffer, by);
        step.meaning = renamed(step.meaning, {{old_name, new_name}});
    }
    std::replace(program.outputs.begin(), program.outputs.end(), buffer, by);
}

}  // namespace ollie::refine
