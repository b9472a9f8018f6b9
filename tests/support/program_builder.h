#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "expr/parse.h"
#include "program/program.h"

namespace ollie::testing {

/// Builds programs by hand: buffers by name, steps with their meaning as text.
class ProgramBuilder {
public:
    ProgramBuilder& buffer(std::string name, Shape shape, program::Role role,
                           std::vector<int> order = {}, ElementType type = ElementType::F32) {
        Layout layout = order.empty() ? Layout::row_major(shape.size()) : Layout{std::move(order)};
        int index = static_cast<int>(program_.buffers.size());
        program_.buffers.push_back(
            {std::move(name), type, std::move(shape), std::move(layout), role, nullptr});
        if (role == program::Role::Input) program_.inputs.push_back(index);
        if (role == program::Role::Output) program_.outputs.push_back(index);
        return *this;
    }
    ProgramBuilder& input(std::string name, Shape shape) {
        return buffer(std::move(name), std::move(shape), program::Role::Input);
    }
    ProgramBuilder& output(std::string name, Shape shape) {
        return buffer(std::move(name), std::move(shape), program::Role::Output);
    }
    ProgramBuilder& scratch(std::string name, Shape shape, std::vector<int> order = {}) {
        return buffer(std::move(name), std::move(shape), program::Role::Scratch, std::move(order));
    }
    ProgramBuilder& constant(std::string name, HostArray values, std::vector<int> order = {}) {
        buffer(std::move(name), values.shape(), program::Role::Constant, std::move(order),
               values.type());
        program_.buffers.back().values = std::make_shared<const HostArray>(std::move(values));
        return *this;
    }
    ProgramBuilder& call(std::string target, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& results, std::string_view meaning) {
        return step(program::StepKind::Call, std::move(target), arguments, results, meaning);
    }
    ProgramBuilder& kernel(std::string symbol, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& results, std::string_view meaning) {
        return step(program::StepKind::Kernel, std::move(symbol), arguments, results, meaning);
    }

    program::Step& last() { return program_.steps.back(); }
    program::Program& program() { return program_; }
    const program::Program& program() const { return program_; }
    std::shared_ptr<const program::Program> share() const {
        return std::make_shared<const program::Program>(program_);
    }

private:
    int index_of(const std::string& name) const {
        for (size_t i = 0; i < program_.buffers.size(); ++i)
            if (program_.buffers[i].name == name) return static_cast<int>(i);
        CHECK(false, "no buffer {}", name);
    }

    ProgramBuilder& step(program::StepKind kind, std::string target,
                         const std::vector<std::string>& arguments,
                         const std::vector<std::string>& results, std::string_view meaning) {
        program::Step step;
        step.kind = kind;
        step.target = std::move(target);
        for (const std::string& name : arguments) step.arguments.push_back(index_of(name));
        for (const std::string& name : results) step.results.push_back(index_of(name));
        step.meaning = expr::parse(meaning);
        program_.steps.push_back(std::move(step));
        return *this;
    }

    program::Program program_;
};

/// An array with the elements 0, 1, 2, ... times scale.
inline HostArray counting(Shape shape, double scale = 1, ElementType type = ElementType::F32) {
    HostArray array(type, std::move(shape));
    for (int64_t i = 0; i < array.size(); ++i) array.set(i, static_cast<double>(i) * scale);
    return array;
}

}  // namespace ollie::testing
