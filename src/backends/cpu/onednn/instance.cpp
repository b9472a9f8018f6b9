#include "backends/cpu/onednn/instance.h"

#include <cstring>

#include "tensor/strided_copy.h"

namespace ollie::backends::cpu {

using dnnl::memory;

OneDnnInstance::OneDnnInstance(const program::Step& step, const program::Program& program)
    : step_(step),
      program_(program),
      engine_(dnnl::engine::kind::cpu, 0),
      stream_(engine_, dnnl::stream::flags::in_order) {}

const program::Buffer& OneDnnInstance::argument_buffer(int argument) const {
    return program_.buffers[static_cast<size_t>(step_.arguments[static_cast<size_t>(argument)])];
}

void OneDnnInstance::add_argument(int role, const memory& memory) {
    kept_.push_back(memory);
    arguments_.push_back({role, memory.get()});
}

memory OneDnnInstance::add_scratch(const memory::desc& desc) {
    memory memory(desc, engine_, nullptr);
    scratch_.push_back({memory, scratch_bytes_});
    scratch_bytes_ += (static_cast<int64_t>(desc.get_size()) + 63) / 64 * 64;
    return memory;
}

void OneDnnInstance::bind(int role, int argument, const View& view, const memory::desc& wanted) {
    const program::Buffer& buffer = argument_buffer(argument);
    Layout layout = argument_layout(step_.parameters, argument);
    if (buffer.values != nullptr) {
        add_argument(role, packed(buffer, layout, view, wanted));
        return;
    }
    CHECK(buffer.layout == layout, "{} is stored {}, not {}", buffer.name, buffer.layout.text(),
          layout.text());
    memory plain(view.desc(), engine_, nullptr);
    bound_.push_back({plain, argument, false, view.offset * int64_t{sizeof(float)}});
    if (wanted == view.desc()) {
        add_argument(role, plain);
        return;
    }
    memory liked = add_scratch(wanted);
    add_reorder(plain, liked);
    add_argument(role, liked);
}

void OneDnnInstance::add_reorder(const memory& plain, const memory& liked) {
    dnnl::primitive_attr attribute;
    attribute.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::reorder::primitive_desc descriptor(engine_, plain.get_desc(), engine_, liked.get_desc(),
                                             attribute);
    memory scratchpad = add_scratch(descriptor.scratchpad_desc());
    kept_.insert(kept_.end(), {plain, liked, scratchpad});
    works_.push_back({dnnl::reorder(descriptor),
                      {{DNNL_ARG_FROM, plain.get()},
                       {DNNL_ARG_TO, liked.get()},
                       {DNNL_ARG_SCRATCHPAD, scratchpad.get()}}});
}

/// Values are row-major whatever the layout of the buffer; the view's strides are of the layout
/// that the choice asked for, so they hold for a copy in that layout.
memory OneDnnInstance::packed(const program::Buffer& buffer, const Layout& layout, const View& view,
                              const memory::desc& wanted) {
    const HostArray& values = *buffer.values;
    CHECK(values.type() == ElementType::F32, "constant {} is not f32", buffer.name);
    HostArray copy;
    auto* stored = static_cast<float*>(const_cast<void*>(values.data()));
    if (!layout.is_row_major()) {
        copy = HostArray(ElementType::F32, buffer.shape);
        StridedCopy::between(sizeof(float), buffer.shape, Layout::row_major(buffer.shape.size()),
                             layout)
            .run(values.data(), copy.data());
        stored = static_cast<float*>(copy.data());
    }
    memory plain(view.desc(), engine_, stored + view.offset);
    memory result(wanted, engine_);
    dnnl::reorder(plain, result).execute(stream_, plain, result);
    stream_.wait();
    return result;
}

void OneDnnInstance::bind_result(int role, int result, const View& view) {
    memory memory(view.desc(), engine_, nullptr);
    bound_.push_back({memory, result, true, view.offset * int64_t{sizeof(float)}});
    add_argument(role, memory);
}

void OneDnnInstance::bind_zeros(int role, const View& view) {
    memory zeros(view.desc(), engine_);
    std::memset(zeros.get_data_handle(), 0, view.desc().get_size());
    add_argument(role, zeros);
}

void OneDnnInstance::bind(const Epilogue& epilogue) {
    for (size_t i = 0; i < epilogue.operations.size(); ++i) {
        const PostOperation& operation = epilogue.operations[i];
        if (operation.argument < 0) continue;
        bind(execution_argument(epilogue, i), operation.argument, operation.view,
             operation.view.desc());
    }
}

void OneDnnInstance::finish(dnnl::primitive primitive, const memory::desc& scratch,
                            std::string implementation) {
    if (scratch.get_size() > 0) add_argument(DNNL_ARG_SCRATCHPAD, add_scratch(scratch));
    works_.push_back({std::move(primitive), std::move(arguments_)});
    arguments_.clear();
    implementation_ += (implementation_.empty() ? "" : ", then ") + implementation;
}

void OneDnnInstance::execute(const Work& work) {
    dnnl_status_t status =
        dnnl_primitive_execute(work.primitive.get(), stream_.get(),
                               static_cast<int>(work.arguments.size()), work.arguments.data());
    CHECK(status == dnnl_success, "oneDNN {}: status {}", implementation_,
          static_cast<int>(status));
}

void OneDnnInstance::run(std::span<void* const> arguments, std::span<void* const> results,
                         void* scratch) {
    auto at = [](void* base, int64_t offset) { return static_cast<std::byte*>(base) + offset; };
    for (Bound& bound : bound_) {
        void* base = (bound.is_result ? results : arguments)[static_cast<size_t>(bound.buffer)];
        bound.memory.set_data_handle(at(base, bound.offset));
    }
    for (Scratch& part : scratch_) part.memory.set_data_handle(at(scratch, part.offset));
    for (const Work& work : works_) execute(work);
    stream_.wait();
}

}  // namespace ollie::backends::cpu
