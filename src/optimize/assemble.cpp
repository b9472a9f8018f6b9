#include "optimize/assemble.h"

#include <map>

#include "expr/build.h"
#include "expr/visit.h"

namespace ollie::optimize {
namespace {

using namespace expr;
using program::Buffer;
using program::Program;
using program::Role;
using program::Step;

/// Corresponding sources (inputs and weights, by order of appearance) of two occurrences of one
/// problem.
std::map<std::string, const Tensor*> corresponding_sources(const Expr& solved,
                                                           const Expr& occurrence) {
    std::vector<const Tensor*> theirs;
    for (const Tensor* tensor : tensors_of(occurrence))
        if (!tensor->is_definition()) theirs.push_back(tensor);
    std::map<std::string, const Tensor*> result;
    size_t next = 0;
    for (const Tensor* tensor : tensors_of(solved))
        if (!tensor->is_definition()) result[tensor->name] = theirs.at(next++);
    return result;
}

/// The candidate's expression with the occurrence's inputs and weights.
class Rebinding {
public:
    Rebinding(const Expr& solved, const Expr& occurrence, const Expr& derived)
        : arena_(std::make_shared<Arena>()) {
        auto sources = corresponding_sources(solved, occurrence);
        for (size_t i = 0; i < solved.outputs.size(); ++i)
            outputs_[solved.outputs[i]->name] = occurrence.outputs[i]->name;
        std::map<const Tensor*, const Tensor*> bound;
        Expr copy = copy_to(arena_, derived, &map_);
        for (const auto& [old, copied] : map_) {
            if (copied->is_definition()) continue;
            const Tensor* source = sources.at(old->name);
            bound[copied] =
                copied->kind == TensorKind::Input
                    ? arena_->input(source->name, copied->type, copied->shape())
                    : arena_->weight(source->name, copied->type, copied->shape(), source->values);
        }
        rebound_ = replace(copy, bound);
        for (const Tensor* tensor : tensors_of(rebound_)) by_name_[tensor->name] = tensor;
        for (const auto& [name, source] : sources) renamed_[name] = source->name;
    }

    /// The rebound tensor of a constant buffer of the fragment.
    const Tensor* constant(const std::string& name) const {
        auto renamed = renamed_.find(name);
        return by_name_.at(renamed == renamed_.end() ? name : renamed->second);
    }
    std::string boundary(const std::string& name) const {
        auto source = renamed_.find(name);
        if (source != renamed_.end()) return source->second;
        return outputs_.at(name);
    }

private:
    std::shared_ptr<Arena> arena_;
    std::map<const Tensor*, const Tensor*> map_;
    Expr rebound_;
    std::map<std::string, const Tensor*> by_name_;
    std::map<std::string, std::string> renamed_;
    std::map<std::string, std::string> outputs_;
};

class Assembler {
public:
    explicit Assembler(const Expr& whole) {
        for (const Tensor* tensor : tensors_of(whole))
            if (tensor->kind == TensorKind::Input) declare(tensor, Role::Input);
    }

    void append(const express::Subprogram& subprogram, const Solution& solution,
                const Fragment& fragment) {
        Rebinding rebinding(solution.problem, subprogram.expr, fragment.candidate->expr);
        Constants constants;
        std::vector<int> mapped;
        for (const Buffer& buffer : fragment.program.buffers) {
            switch (buffer.role) {
                case Role::Input:
                    mapped.push_back(at_layout(rebinding.boundary(buffer.name), buffer.layout));
                    break;
                case Role::Output:
                    mapped.push_back(produce(rebinding.boundary(buffer.name), buffer));
                    break;
                case Role::Constant: {
                    Buffer own = buffer;
                    own.values = constants.values_of(rebinding.constant(buffer.name));
                    mapped.push_back(add(std::move(own), subprogram.name));
                    break;
                }
                case Role::Scratch:
                    mapped.push_back(add(buffer, subprogram.name));
                    break;
            }
        }
        for (Step step : fragment.program.steps) {
            std::map<std::string, std::string> names;
            for (std::vector<int>* list : {&step.arguments, &step.results}) {
                for (int& index : *list) {
                    const std::string& inner = fragment.program.buffers[index].name;
                    names[inner] = program_.buffers[mapped[index]].name;
                    index = mapped[index];
                }
            }
            step.meaning = renamed(step.meaning, names);
            step.origin = subprogram_origin(subprogram.expr);
            program_.steps.push_back(std::move(step));
        }
    }

    Program finish(const Expr& whole) {
        for (const Tensor* tensor : tensors_of(whole))
            if (tensor->kind == TensorKind::Input)
                program_.inputs.push_back(where_.at(tensor->name).front());
        for (const Tensor* output : whole.outputs) {
            int index = at_layout(output->name, Layout::row_major(output->rank()));
            give_name(index, output->name);
            program_.buffers[index].role = Role::Output;
            program_.outputs.push_back(index);
        }
        return std::move(program_);
    }

private:
    /// The buffer gets the name, and whichever had it gets the buffer's own.
    void give_name(int index, const std::string& name) {
        std::string own = program_.buffers[index].name;
        if (own == name) return;
        std::map<std::string, std::string> exchanged = {{own, name}, {name, own}};
        for (Step& step : program_.steps) {
            std::map<std::string, std::string> names;
            bool changes = false;
            for (const std::vector<int>* list : {&step.arguments, &step.results})
                for (int buffer : *list) {
                    const std::string& old = program_.buffers[buffer].name;
                    auto found = exchanged.find(old);
                    changes = changes || found != exchanged.end();
                    names[old] = found == exchanged.end() ? old : found->second;
                }
            if (changes) step.meaning = renamed(step.meaning, names);
        }
        for (Buffer& buffer : program_.buffers)
            if (auto found = exchanged.find(buffer.name); found != exchanged.end())
                buffer.name = found->second;
    }

    void declare(const Tensor* tensor, Role role) {
        program_.buffers.push_back({unused(tensor->name), tensor->type, tensor->shape(),
                                    Layout::row_major(tensor->rank()), role, nullptr});
        where_[tensor->name] = {static_cast<int>(program_.buffers.size()) - 1};
    }

    int add(Buffer buffer, const std::string& prefix) {
        buffer.name = unused(prefix.empty() ? buffer.name : prefix + "/" + buffer.name);
        program_.buffers.push_back(std::move(buffer));
        return static_cast<int>(program_.buffers.size()) - 1;
    }

    std::string unused(const std::string& name) {
        int& count = names_[name];
        return ++count == 1 ? name : name + "_" + std::to_string(count);
    }

    int produce(const std::string& name, Buffer buffer) {
        buffer.name = name;
        buffer.role = Role::Scratch;
        int index = add(std::move(buffer), "");
        where_[name] = {index};
        return index;
    }

    /// The buffer that holds the tensor in this layout, copied there if it is not yet.
    int at_layout(const std::string& name, const Layout& layout) {
        std::vector<int>& there = where_.at(name);
        for (int index : there)
            if (program_.buffers[index].layout == layout) return index;
        int source = there.front();
        Buffer copy = program_.buffers[source];
        copy.layout = layout;
        copy.role = Role::Scratch;
        copy.name = name + "@" + layout.text();
        int target = add(std::move(copy), "");
        Step step;
        step.kind = program::StepKind::Call;
        step.target = "copy";
        step.arguments = {source};
        step.results = {target};
        step.meaning = identity_meaning(program_.buffers[source], program_.buffers[target]);
        program_.steps.push_back(std::move(step));
        where_.at(name).push_back(target);
        return target;
    }

    static Expr identity_meaning(const Buffer& source, const Buffer& target) {
        auto arena = std::make_shared<Arena>();
        const Tensor* input = arena->input(source.name, source.type, source.shape);
        std::vector<Axis> axes = fresh(*arena, input->axes);
        return {
            arena,
            {arena->define(target.name, target.type, axes, arena->read(input, indices_of(axes)))}};
    }

    static Origin subprogram_origin(const Expr& expr) {
        Origin origin;
        for (const Tensor* definition : definitions_of(expr))
            origin = merge(origin, definition->origin);
        return origin;
    }

    /// The meaning with its inputs, weights and outputs renamed.
    static Expr renamed(const Expr& meaning, const std::map<std::string, std::string>& names) {
        auto arena = std::make_shared<Arena>();
        Expr copy = copy_to(arena, meaning);
        std::map<const Tensor*, const Tensor*> sources;
        for (const Tensor* tensor : tensors_of(copy)) {
            if (tensor->is_definition()) continue;
            const std::string& name = names.at(tensor->name);
            sources[tensor] = tensor->kind == TensorKind::Input
                                  ? arena->input(name, tensor->type, tensor->shape())
                                  : arena->weight(name, tensor->type, tensor->shape());
        }
        Expr result = replace(copy, sources);
        for (const Tensor*& output : result.outputs)
            output = arena->define(names.at(output->name), output->type, output->axes, output->body,
                                   output->origin);
        return result;
    }

    Program program_;
    std::map<std::string, std::vector<int>> where_;
    std::map<std::string, int> names_;
};

}  // namespace

Program assemble(const Expr& whole, const std::vector<express::Subprogram>& subprograms,
                 const Solutions& solutions, const Selection& selection,
                 const KernelLibrary& library) {
    Assembler assembler(whole);
    for (size_t i = 0; i < subprograms.size(); ++i)
        assembler.append(subprograms[i], *solutions.of[i], *selection.fragments[i]);
    Program program = assembler.finish(whole);
    program.code = library.code_for(program);
    program.code_target = codegen::target_name();
    return program;
}

}  // namespace ollie::optimize
