#include "runtime/session.h"

#include <chrono>
#include <cstring>

#include "backends/cpu/calls.h"
#include "backends/reference/reference.h"
#include "plan/plan.h"
#include "runtime/code.h"

namespace ollie::runtime {
namespace {

using program::Buffer;
using program::Role;
using program::Step;
using program::StepKind;

/// The constant's values in its order of storage.
HostArray stored(const Buffer& buffer) {
    const HostArray& values = *buffer.values;
    if (buffer.layout.is_row_major()) return values;
    HostArray result(buffer.type, buffer.shape);
    int64_t size = size_of(buffer.type);
    std::vector<int64_t> strides = buffer.strides();
    std::vector<int64_t> point(buffer.shape.size(), 0);
    const auto* from = static_cast<const std::byte*>(values.data());
    auto* to = static_cast<std::byte*>(result.data());
    for (int64_t i = 0, count = values.size(); i < count; ++i) {
        int64_t at = 0;
        for (size_t d = 0; d < point.size(); ++d) at += point[d] * strides[d];
        std::memcpy(to + at * size, from + i * size, static_cast<size_t>(size));
        for (size_t d = point.size(); d-- > 0 && ++point[d] == buffer.shape[d];) point[d] = 0;
    }
    return result;
}

std::unique_ptr<backends::CallInstance> prepare_call(const Step& step,
                                                     const program::Program& program) {
    if (step.target == "reference") return backends::reference::prepare(step, program);
    const backends::LibraryCall* call = backends::cpu::find(step.target);
    if (!call)
        throw_user_error("the program needs the call \"{}\", which there is not", step.target);
    return call->prepare(step, program);
}

}  // namespace

struct Session::Impl {
    /// A step with the pointers to all that it touches.
    struct Ready {
        std::unique_ptr<backends::CallInstance> call;
        Code::Entry kernel = nullptr;
        std::vector<void*> arguments;
        std::vector<void*> results;
        void* scratch = nullptr;
    };
    /// A pointer of a step that is the caller's own.
    struct Foreign {
        size_t step;
        size_t position;
        bool is_result;
        size_t index;  ///< Of the program's inputs or outputs.
        bool is_output;
    };

    std::shared_ptr<const program::Program> program;
    Code code;
    program::Plan plan;
    HostArray arena;
    std::vector<HostArray> constants;  ///< Per buffer; in order of storage.
    std::vector<Ready> steps;
    std::vector<Foreign> foreign;
    /// Outputs that are inputs or constants themselves: no step writes them.
    std::vector<std::pair<size_t, int>> passed_on;

    explicit Impl(std::shared_ptr<const program::Program> p)
        : program(std::move(p)), code(program->code, program->code_target) {
        std::vector<int64_t> workspace;
        for (const Step& step : program->steps) {
            Ready ready;
            if (step.kind == StepKind::Kernel)
                ready.kernel = code.entry(step.target);
            else
                ready.call = prepare_call(step, *program);
            workspace.push_back(ready.call ? ready.call->scratch_bytes() : 0);
            steps.push_back(std::move(ready));
        }
        plan = plan::plan(*program, workspace);
        arena = HostArray(ElementType::U8, {plan.arena_bytes});
        pack_constants();
        for (size_t i = 0; i < steps.size(); ++i) bind(i);
        find_passed_on();
    }

    /// Only what kernels read: calls keep their own packed form.
    void pack_constants() {
        constants.resize(program->buffers.size());
        for (const Step& step : program->steps)
            for (int index : step.arguments) {
                const Buffer& buffer = program->buffers[index];
                if (buffer.role != Role::Constant || constants[index].size() > 0) continue;
                if (buffer.values) constants[index] = stored(buffer);
            }
    }

    void* address(int index) {
        const Buffer& buffer = program->buffers[index];
        auto* base = static_cast<std::byte*>(arena.data());
        if (buffer.role == Role::Constant) return constants[index].data();
        return plan.offsets[index] < 0 ? nullptr : base + plan.offsets[index];
    }

    void bind(size_t i) {
        const Step& step = program->steps[i];
        for (int index : step.arguments) steps[i].arguments.push_back(address(index));
        for (int index : step.results) steps[i].results.push_back(address(index));
        if (plan.scratch_offsets[i] >= 0)
            steps[i].scratch = static_cast<std::byte*>(arena.data()) + plan.scratch_offsets[i];
        note_foreign(i, step.arguments, false);
        note_foreign(i, step.results, true);
    }

    void note_foreign(size_t step, const std::vector<int>& list, bool is_result) {
        for (size_t position = 0; position < list.size(); ++position) {
            for (size_t k = 0; k < program->inputs.size(); ++k)
                if (program->inputs[k] == list[position])
                    foreign.push_back({step, position, is_result, k, false});
            for (size_t k = 0; k < program->outputs.size(); ++k)
                if (program->outputs[k] == list[position] &&
                    program->buffers[list[position]].role == Role::Output) {
                    foreign.push_back({step, position, is_result, k, true});
                    break;
                }
        }
    }

    void find_passed_on() {
        std::vector<char> seen(program->buffers.size(), 0);
        for (size_t k = 0; k < program->outputs.size(); ++k) {
            int index = program->outputs[k];
            bool is_first = !seen[index];
            seen[index] = 1;
            if (program->buffers[index].role != Role::Output || !is_first)
                passed_on.emplace_back(k, index);
        }
    }

    void point(std::span<const void* const> inputs, std::span<void* const> outputs) {
        for (const Foreign& f : foreign) {
            void* pointer = f.is_output ? outputs[f.index] : const_cast<void*>(inputs[f.index]);
            (f.is_result ? steps[f.step].results : steps[f.step].arguments)[f.position] = pointer;
        }
    }

    void run_step(Ready& step) {
        if (step.kernel)
            step.kernel(step.arguments.data(), step.results.data(), nullptr);
        else
            step.call->run(step.arguments, step.results, step.scratch);
    }

    void pass_on(std::span<const void* const> inputs, std::span<void* const> outputs) {
        for (auto [k, index] : passed_on) {
            const void* source = nullptr;
            for (size_t i = 0; i < program->inputs.size(); ++i)
                if (program->inputs[i] == index) source = inputs[i];
            for (size_t j = 0; j < k && !source; ++j)
                if (program->outputs[j] == index) source = outputs[j];
            const Buffer& buffer = program->buffers[index];
            if (!source && buffer.values) source = buffer.values->data();
            CHECK(source != nullptr, "nothing writes output {}", buffer.name);
            if (buffer.bytes() > 0)
                std::memcpy(outputs[k], source, static_cast<size_t>(buffer.bytes()));
        }
    }
};

Session::Session(std::shared_ptr<const program::Program> program)
    : impl_(std::make_unique<Impl>(std::move(program))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

const program::Program& Session::program() const { return *impl_->program; }

void Session::run(std::span<const void* const> inputs, std::span<void* const> outputs) {
    CHECK(inputs.size() == impl_->program->inputs.size() &&
          outputs.size() == impl_->program->outputs.size());
    impl_->point(inputs, outputs);
    for (Impl::Ready& step : impl_->steps) impl_->run_step(step);
    impl_->pass_on(inputs, outputs);
}

std::vector<HostArray> Session::run(std::span<const HostArray> inputs) {
    const program::Program& p = *impl_->program;
    if (inputs.size() != p.inputs.size())
        throw_user_error("{} inputs were given, the program has {}", inputs.size(),
                         p.inputs.size());
    std::vector<const void*> sources;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Buffer& buffer = p.buffers[p.inputs[i]];
        if (inputs[i].shape() != buffer.shape || inputs[i].type() != buffer.type)
            throw_user_error("input \"{}\" is {} of shape {}, the program wants {} of shape {}",
                             buffer.name, name_of(inputs[i].type()), to_text(inputs[i].shape()),
                             name_of(buffer.type), to_text(buffer.shape));
        sources.push_back(inputs[i].data());
    }
    std::vector<HostArray> outputs;
    std::vector<void*> targets;
    for (int index : p.outputs) outputs.emplace_back(p.buffers[index].type, p.buffers[index].shape);
    for (HostArray& output : outputs) targets.push_back(output.data());
    run(sources, targets);
    return outputs;
}

std::vector<double> Session::profile(std::span<const HostArray> inputs) {
    using Clock = std::chrono::steady_clock;
    run(inputs);  // Sets all pointers; outputs are of no interest.
    std::vector<const void*> sources;
    for (const HostArray& input : inputs) sources.push_back(input.data());
    std::vector<HostArray> outputs = run(inputs);
    std::vector<void*> targets;
    for (HostArray& output : outputs) targets.push_back(output.data());
    impl_->point(sources, targets);
    std::vector<double> seconds;
    for (Impl::Ready& step : impl_->steps) {
        auto start = Clock::now();
        impl_->run_step(step);
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
}

std::vector<std::string> Session::implementations() const {
    std::vector<std::string> names;
    for (const Impl::Ready& step : impl_->steps)
        names.push_back(step.call ? step.call->implementation() : "");
    return names;
}

int64_t Session::arena_bytes() const { return impl_->plan.arena_bytes; }

}  // namespace ollie::runtime
