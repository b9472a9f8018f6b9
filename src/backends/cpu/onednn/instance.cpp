#include "backends/cpu/onednn/instance.h"

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
    execution_.push_back({role, memory.get()});
}

int64_t OneDnnInstance::reserve_scratch(int64_t bytes) {
    int64_t offset = scratch_bytes_;
    scratch_bytes_ += (bytes + 63) / 64 * 64;
    return offset;
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
    memory liked(wanted, engine_, nullptr);
    dnnl::primitive_attr attribute;
    attribute.set_scratchpad_mode(dnnl::scratchpad_mode::library);
    dnnl::reorder::primitive_desc descriptor(engine_, view.desc(), engine_, wanted, attribute);
    int64_t offset = reserve_scratch(static_cast<int64_t>(wanted.get_size()));
    reorders_.push_back({dnnl::reorder(descriptor), plain, liked, offset});
    kept_.push_back(plain);
    add_argument(role, liked);
}

/// Values are row-major whatever the layout of the buffer; the view's strides are of the layout
/// that the choice asked for, so they hold for a copy in that layout.
memory OneDnnInstance::packed(const program::Buffer& buffer, const Layout& layout, const View& view,
                              const memory::desc& wanted) {
    const HostArray& values = *buffer.values;
    CHECK(values.type() == ElementType::F32, "constant {} is not f32", buffer.name);
    std::vector<int64_t> to = layout.strides(buffer.shape);
    memory stored(memory::desc({values.size()}, memory::data_type::f32, memory::format_tag::a),
                  engine_);
    auto* target = static_cast<float*>(stored.get_data_handle());
    const auto* source = static_cast<const float*>(values.data());
    std::vector<int64_t> point(buffer.shape.size(), 0);
    for (int64_t at = 0; at < values.size(); ++at) {
        int64_t place = 0;
        for (size_t axis = 0; axis < point.size(); ++axis) place += point[axis] * to[axis];
        target[place] = source[at];
        for (size_t axis = point.size(); axis-- > 0;) {
            if (++point[axis] < buffer.shape[axis]) break;
            point[axis] = 0;
        }
    }
    memory plain(view.desc(), engine_, target + view.offset);
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

memory OneDnnInstance::bind_own(int role, const memory::desc& desc) {
    memory memory(desc, engine_);
    add_argument(role, memory);
    return memory;
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
    primitive_ = std::move(primitive);
    implementation_ = std::move(implementation);
    if (scratch.get_size() == 0) return;
    scratchpad_ = memory(scratch, engine_, nullptr);
    scratchpad_offset_ = reserve_scratch(static_cast<int64_t>(scratch.get_size()));
    add_argument(DNNL_ARG_SCRATCHPAD, scratchpad_);
}

void OneDnnInstance::run(std::span<void* const> arguments, std::span<void* const> results,
                         void* scratch) {
    auto* scratch_bytes = static_cast<std::byte*>(scratch);
    for (Bound& bound : bound_) {
        void* base = (bound.is_result ? results : arguments)[static_cast<size_t>(bound.buffer)];
        bound.memory.set_data_handle(static_cast<std::byte*>(base) + bound.offset);
    }
    if (scratchpad_) scratchpad_.set_data_handle(scratch_bytes + scratchpad_offset_);
    for (Reorder& reorder : reorders_) {
        reorder.to.set_data_handle(scratch_bytes + reorder.scratch_offset);
        reorder.primitive.execute(stream_, reorder.from, reorder.to);
    }
    dnnl_status_t status = dnnl_primitive_execute(
        primitive_.get(), stream_.get(), static_cast<int>(execution_.size()), execution_.data());
    CHECK(status == dnnl_success, "oneDNN {}: status {}", implementation_,
          static_cast<int>(status));
    stream_.wait();
}

}  // namespace ollie::backends::cpu
