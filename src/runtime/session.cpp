#include "runtime/session.h"

#include <chrono>
#include <cstring>
#include <map>

#include "plan/plan.h"
#include "program/print.h"
#include "runtime/calls.h"
#include "runtime/code.h"
#include "tensor/strided_copy.h"

namespace ollie::runtime {
namespace {

using backends::CallInstance;
using program::Buffer;
using program::Program;
using program::Role;
using program::Step;
using program::StepKind;

/// A step with all its pointers; those of the caller's tensors are filled in by each run.
struct Prepared {
    std::unique_ptr<CallInstance> call;  ///< Or
    Code::Entry kernel = nullptr;
    std::vector<void*> arguments;
    std::vector<void*> results;
    void* scratch = nullptr;
};

/// Where a pointer of the caller's goes.
struct Slot {
    void** pointer;
    size_t tensor;  ///< Position in the inputs or in the outputs.
};

/// An output that no step writes by itself: an input, a constant, or one that is listed twice.
struct Copied {
    int buffer;
    size_t output;
    size_t bytes;
};

/// What empty tensors of the caller's may point to.
alignas(64) std::byte nothing[64];

void* not_null(const void* pointer) {
    return pointer != nullptr ? const_cast<void*>(pointer) : static_cast<void*>(nothing);
}

void check_machine(const Program& program) {
    std::string missing = missing_features(program.code_target);
    if (!program.code.empty() && !missing.empty())
        throw_user_error("the program was compiled for {}; this processor lacks {}",
                         program.code_target, missing);
}

}  // namespace

struct Session::Impl {
    explicit Impl(std::shared_ptr<const Program> given) : program(std::move(given)) {
        check_machine(*program);
        if (!program->code.empty()) code = std::make_unique<Code>(program->code);
        prepare_steps();
        std::vector<int64_t> workspace;
        for (const Prepared& step : steps)
            workspace.push_back(step.call ? step.call->scratch_bytes() : 0);
        memory_plan = plan::plan(*program, workspace);
        arena = HostArray(ElementType::U8, {memory_plan.arena_bytes});
        holders = plan::storage_holders(*program);
        find_callers_tensors();
        pack_constants();
        bind();
    }

    void prepare_steps() {
        for (const Step& step : program->steps) {
            Prepared prepared;
            if (step.kind == StepKind::Kernel) {
                if (!code) throw_user_error("the program has kernels, but no code");
                prepared.kernel = code->entry(step.target);
            } else {
                prepared.call = find_call(step.target).prepare(step, *program);
            }
            steps.push_back(std::move(prepared));
        }
    }

    void find_callers_tensors() {
        for (size_t i = 0; i < program->inputs.size(); ++i) input_of[program->inputs[i]] = i;
        for (size_t i = 0; i < program->outputs.size(); ++i) {
            int index = program->outputs[i];
            bool is_written = program->buffers[index].role == Role::Output &&
                              !input_of.contains(index) && output_of.try_emplace(index, i).second;
            if (is_written) continue;
            auto bytes = static_cast<size_t>(program->buffers[index].bytes());
            copied.push_back({index, i, bytes});
        }
        copied_from.resize(copied.size());
    }

    /// Constants in the order of their buffers; those that are row-major are used where they are.
    void pack_constants() {
        std::vector<char> is_read(program->buffers.size(), 0);
        for (size_t s = 0; s < steps.size(); ++s)
            for (int index : program->steps[s].arguments)
                if (!steps[s].call || steps[s].call->reads_constants())
                    is_read[static_cast<size_t>(holders[index])] = 1;
        for (const Copied& copy : copied) is_read[static_cast<size_t>(holders[copy.buffer])] = 1;
        constants.resize(program->buffers.size(), nothing);
        for (size_t i = 0; i < program->buffers.size(); ++i) {
            const Buffer& buffer = program->buffers[i];
            if (buffer.role != Role::Constant || !is_read[i]) continue;
            CHECK(buffer.values, "constant \"{}\" has no values", buffer.name);
            constants[i] = not_null(buffer.values->data());
            if (buffer.layout.is_row_major() || buffer.bytes() == 0) continue;
            HostArray array(buffer.type, buffer.shape);
            StridedCopy::between(size_of(buffer.type), buffer.shape,
                                 Layout::row_major(buffer.shape.size()), buffer.layout)
                .run(buffer.values->data(), array.data());
            constants[i] = array.data();
            packed.push_back(std::move(array));
        }
    }

    void bind() {
        for (size_t s = 0; s < steps.size(); ++s) {
            Prepared& prepared = steps[s];
            const Step& step = program->steps[s];
            prepared.arguments.resize(step.arguments.size());
            prepared.results.resize(step.results.size());
            for (size_t i = 0; i < step.arguments.size(); ++i)
                bind(step.arguments[i], prepared.arguments[i]);
            for (size_t i = 0; i < step.results.size(); ++i)
                bind(step.results[i], prepared.results[i]);
            if (memory_plan.scratch_offsets[s] >= 0)
                prepared.scratch =
                    static_cast<std::byte*>(arena.data()) + memory_plan.scratch_offsets[s];
        }
        for (size_t i = 0; i < copied.size(); ++i) bind(copied[i].buffer, copied_from[i]);
    }

    void bind(int index, void*& pointer) {
        int holder = holders[static_cast<size_t>(index)];
        auto input = input_of.find(holder);
        auto output = output_of.find(holder);
        if (input != input_of.end())
            input_slots.push_back({&pointer, input->second});
        else if (output != output_of.end())
            output_slots.push_back({&pointer, output->second});
        else if (program->buffers[static_cast<size_t>(holder)].role == Role::Constant)
            pointer = constants[static_cast<size_t>(holder)];
        else
            pointer = in_arena(holder);
    }

    void* in_arena(int buffer) {
        const Buffer& held = program->buffers[static_cast<size_t>(buffer)];
        if (held.bytes() == 0) return nothing;
        int64_t offset = memory_plan.offsets[static_cast<size_t>(buffer)];
        if (offset < 0)
            throw_user_error("the program's {} \"{}\" has no memory: it is in no list of {}s",
                             name_of(held.role), held.name, name_of(held.role));
        return static_cast<std::byte*>(arena.data()) + offset;
    }

    void take(std::span<const void* const> inputs, std::span<void* const> outputs) {
        CHECK(inputs.size() == program->inputs.size() && outputs.size() == program->outputs.size(),
              "{} inputs and {} outputs given", inputs.size(), outputs.size());
        for (const Slot& slot : input_slots) *slot.pointer = not_null(inputs[slot.tensor]);
        for (const Slot& slot : output_slots) *slot.pointer = not_null(outputs[slot.tensor]);
    }

    void run_step(size_t s) {
        Prepared& step = steps[s];
        if (step.call) {
            step.call->run(step.arguments, step.results, step.scratch);
            return;
        }
        int status = step.kernel(step.arguments.data(), step.results.data(), nullptr);
        CHECK(status == 0, "kernel {}: status {}", program->steps[s].target, status);
    }

    void finish(std::span<void* const> outputs) {
        for (size_t i = 0; i < copied.size(); ++i)
            if (copied[i].bytes > 0)
                std::memcpy(outputs[copied[i].output], copied_from[i], copied[i].bytes);
    }

    std::shared_ptr<const Program> program;
    std::unique_ptr<Code> code;
    std::vector<Prepared> steps;
    program::Plan memory_plan;
    HostArray arena;
    std::vector<int> holders;
    std::map<int, size_t> input_of;  ///< Buffer -> position in the program's inputs.
    std::map<int, size_t> output_of;
    std::vector<void*> constants;  ///< Per buffer.
    std::vector<HostArray> packed;
    std::vector<Slot> input_slots;
    std::vector<Slot> output_slots;
    std::vector<Copied> copied;
    std::vector<void*> copied_from;
};

Session::Session(std::shared_ptr<const Program> program)
    : impl_(std::make_unique<Impl>(std::move(program))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

const Program& Session::program() const { return *impl_->program; }

void Session::run(std::span<const void* const> inputs, std::span<void* const> outputs) {
    impl_->take(inputs, outputs);
    for (size_t s = 0; s < impl_->steps.size(); ++s) impl_->run_step(s);
    impl_->finish(outputs);
}

namespace {

/// Checked input pointers and fresh outputs.
struct Tensors {
    Tensors(const Program& program, std::span<const HostArray> inputs) {
        if (inputs.size() != program.inputs.size())
            throw_user_error("{} inputs given, the program has {}", inputs.size(),
                             program.inputs.size());
        for (size_t i = 0; i < inputs.size(); ++i) {
            const Buffer& buffer = program.buffers[program.inputs[i]];
            if (inputs[i].type() != buffer.type || inputs[i].shape() != buffer.shape)
                throw_user_error("input \"{}\" is {} {}, the program wants {} {}", buffer.name,
                                 name_of(inputs[i].type()), to_text(inputs[i].shape()),
                                 name_of(buffer.type), to_text(buffer.shape));
            sources.push_back(inputs[i].data());
        }
        for (int index : program.outputs) {
            const Buffer& buffer = program.buffers[index];
            outputs.emplace_back(buffer.type, buffer.shape);
            targets.push_back(outputs.back().data());
        }
    }

    std::vector<const void*> sources;
    std::vector<HostArray> outputs;
    std::vector<void*> targets;
};

}  // namespace

std::vector<HostArray> Session::run(std::span<const HostArray> inputs) {
    Tensors tensors(program(), inputs);
    run(tensors.sources, tensors.targets);
    return std::move(tensors.outputs);
}

std::vector<double> Session::profile(std::span<const HostArray> inputs) {
    using Clock = std::chrono::steady_clock;
    Tensors tensors(program(), inputs);
    impl_->take(tensors.sources, tensors.targets);
    std::vector<double> seconds;
    for (size_t s = 0; s < impl_->steps.size(); ++s) {
        auto start = Clock::now();
        impl_->run_step(s);
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return seconds;
}

std::vector<std::string> Session::implementations() const {
    std::vector<std::string> names;
    for (const Prepared& step : impl_->steps)
        names.push_back(step.call ? step.call->implementation() : std::string());
    return names;
}

int64_t Session::arena_bytes() const { return impl_->memory_plan.arena_bytes; }

}  // namespace ollie::runtime
