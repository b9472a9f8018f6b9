#include "optimize/fragment.h"

#include <algorithm>

#include "derive/scope.h"
#include "expr/evaluate.h"
#include "expr/visit.h"

namespace ollie::optimize {
namespace {

using namespace expr;
using program::Buffer;
using program::Role;
using program::Step;
using search::Piece;

/// Layouts that calls fix; nothing where two disagree.
std::optional<std::map<const Tensor*, Layout>> fixed_layouts(const std::vector<Piece>& pieces) {
    std::map<const Tensor*, Layout> layouts;
    for (const Piece& piece : pieces) {
        if (piece.kind != Piece::Kind::Call) continue;
        const backends::CallChoice& choice = piece.choice;
        for (size_t i = 0; i < choice.arguments.size(); ++i) {
            auto [found, is_new] =
                layouts.try_emplace(choice.arguments[i], choice.argument_layouts[i]);
            if (!is_new && found->second != choice.argument_layouts[i]) return std::nullopt;
        }
        auto [found, is_new] = layouts.try_emplace(piece.definitions.back(), choice.result_layout);
        if (!is_new && found->second != choice.result_layout) return std::nullopt;
    }
    return layouts;
}

class Builder {
public:
    Builder(const search::Candidate& candidate, std::map<const Tensor*, Layout> layouts,
            bool channels_last, Constants& constants)
        : candidate_(candidate),
          layouts_(std::move(layouts)),
          channels_last_(channels_last),
          constants_(constants) {}

    OrRefusal<Fragment> build() {
        fragment_.candidate = &candidate_;
        for (const Tensor* tensor : tensors_of(candidate_.expr))
            if (tensor->kind == TensorKind::Input) add_buffer(tensor, Role::Input);
        for (const Piece& piece : candidate_.pieces) {
            if (piece.kind == Piece::Kind::Constant) continue;
            if (auto refusal = add_step(piece)) return *refusal;
        }
        for (const Tensor* output : candidate_.expr.outputs)
            fragment_.program.outputs.push_back(buffer_of(output));
        return std::move(fragment_);
    }

private:
    Role role_of(const Tensor* tensor) const {
        if (tensor->kind == TensorKind::Input) return Role::Input;
        if (derive::is_weight_only(tensor)) return Role::Constant;
        return derive::is_output(candidate_.expr, tensor) ? Role::Output : Role::Scratch;
    }

    Layout layout_of(const Tensor* tensor, Role role) const {
        auto fixed = layouts_.find(tensor);
        if (fixed != layouts_.end()) return fixed->second;
        bool boundary = role == Role::Input || role == Role::Output;
        return boundary && channels_last_ ? Layout::channels_last(tensor->rank())
                                          : Layout::row_major(tensor->rank());
    }

    int add_buffer(const Tensor* tensor, Role role) {
        Buffer buffer{tensor->name, tensor->type, tensor->shape(), layout_of(tensor, role),
                      role,         nullptr};
        if (role == Role::Constant) buffer.values = constants_.values_of(tensor);
        int index = static_cast<int>(fragment_.program.buffers.size());
        fragment_.program.buffers.push_back(std::move(buffer));
        if (role == Role::Input) fragment_.program.inputs.push_back(index);
        return buffers_[tensor] = index;
    }

    int buffer_of(const Tensor* tensor) {
        auto found = buffers_.find(tensor);
        return found != buffers_.end() ? found->second : add_buffer(tensor, role_of(tensor));
    }

    /// The tensor of the candidate with that name: isolated groups keep names.
    const Tensor* named(const Piece& piece, const std::string& name) const {
        for (const Tensor* definition : piece.definitions)
            for (const Tensor* source : sources_of(definition))
                if (source->name == name) return source;
        CHECK(false, "{} is not read by the kernel", name);
    }

    std::optional<Refusal> add_step(const Piece& piece) {
        const Tensor* visible = piece.definitions.back();
        Step step;
        step.meaning = isolate(piece.definitions, {visible});
        for (const Tensor* definition : piece.definitions)
            step.origin = merge(step.origin, definition->origin);
        step.cost.estimated = piece.estimated;
        if (piece.kind == Piece::Kind::Call) {
            step.kind = program::StepKind::Call;
            step.target = piece.call->name;
            step.parameters = piece.choice.parameters;
            step.changes_nonfinite = piece.choice.changes_nonfinite;
            for (const Tensor* argument : piece.choice.arguments)
                step.arguments.push_back(buffer_of(argument));
            step.results.push_back(buffer_of(visible));
        } else if (auto refusal = add_kernel(piece, step)) {
            return refusal;
        }
        fragment_.program.steps.push_back(std::move(step));
        return std::nullopt;
    }

    std::optional<Refusal> add_kernel(const Piece& piece, Step& step) {
        auto possible = codegen::can_generate(step.meaning);
        if (!possible) return Refusal{possible.reason()};
        step.kind = program::StepKind::Kernel;
        codegen::KernelProblem problem;
        problem.group = step.meaning;
        for (const Tensor* argument : codegen::arguments_of(step.meaning)) {
            int buffer = buffer_of(named(piece, argument->name));
            step.arguments.push_back(buffer);
            problem.argument_layouts.push_back(fragment_.program.buffers[buffer].layout);
        }
        step.results.push_back(buffer_of(piece.definitions.back()));
        problem.result_layouts.push_back(fragment_.program.buffers[step.results[0]].layout);
        fragment_.kernels.push_back({fragment_.program.steps.size(), std::move(problem)});
        return std::nullopt;
    }

    const search::Candidate& candidate_;
    std::map<const Tensor*, Layout> layouts_;
    bool channels_last_;
    Constants& constants_;
    Fragment fragment_;
    std::map<const Tensor*, int> buffers_;
};

}  // namespace

double Fragment::cost() const { return measured >= 0 ? measured : candidate->estimated; }

const Layout* Fragment::input_layout(const std::string& name) const {
    for (int input : program.inputs)
        if (program.buffers[input].name == name) return &program.buffers[input].layout;
    return nullptr;
}

const Layout& Fragment::output_layout(size_t output) const {
    return program.buffers[program.outputs[output]].layout;
}

std::shared_ptr<const HostArray> Constants::values_of(const Tensor* tensor) {
    auto [found, is_new] = known_.try_emplace(tensor);
    if (!is_new) return found->second;
    if (!tensor->is_definition()) return found->second = tensor->values;
    HostArray exact = std::move(evaluate({nullptr, {tensor}}, {}).front());
    auto rounded = std::make_shared<HostArray>(tensor->type, tensor->shape());
    for (int64_t i = 0; i < exact.size(); ++i) rounded->set(i, exact.at(i));
    return known_[tensor] = rounded;
}

OrRefusal<Fragment> build_fragment(const search::Candidate& candidate, bool channels_last,
                                   Constants& constants) {
    auto layouts = fixed_layouts(candidate.pieces);
    if (!layouts) return refuse("two calls want one tensor in different layouts");
    return Builder(candidate, std::move(*layouts), channels_last, constants).build();
}

Expr isolate(const std::vector<const Tensor*>& group, const std::vector<const Tensor*>& visible) {
    std::map<const Tensor*, const Tensor*> outside;
    for (const Tensor* definition : group)
        for (const Tensor* source : sources_of(definition))
            if (source->is_definition() &&
                std::find(group.begin(), group.end(), source) == group.end())
                outside.try_emplace(
                    source, source->arena->input(source->name, source->type, source->shape()));
    Expr alone = replace({nullptr, visible}, outside);
    return copy_to(std::make_shared<Arena>(), alone);
}

}  // namespace ollie::optimize
