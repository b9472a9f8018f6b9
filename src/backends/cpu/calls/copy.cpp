#include <cstring>

#include "backends/cpu/calls.h"
#include "backends/cpu/onednn/view.h"

namespace ollie::backends::cpu::calls {
namespace {

using program::Buffer;

OrRefusal<std::vector<CallChoice>> choices(const match::Binding&) {
    return refuse("copies are placed between steps, not derived");
}

double estimate(const match::Binding&, const CallChoice&, const match::Machine&) { return 0; }

/// Elements of other sizes are copied as rows of bytes.
View view_of(const Buffer& buffer) {
    View view{buffer.shape, buffer.strides(), 0};
    int64_t size = size_of(buffer.type);
    if (size != 4) {
        for (int64_t& stride : view.strides) stride *= size;
        view.dims.push_back(size);
        view.strides.push_back(1);
    }
    if (view.dims.empty()) {
        view.dims.push_back(1);
        view.strides.push_back(1);
    }
    return view;
}

dnnl::memory::desc desc_of(const View& view, int64_t element_size) {
    auto type = element_size == 4 ? dnnl::memory::data_type::s32 : dnnl::memory::data_type::u8;
    return {view.dims, type, view.strides};
}

class Copy : public CallInstance {
public:
    Copy(const Buffer& source, const Buffer& target)
        : bytes_(source.bytes()),
          is_plain_(source.strides() == target.strides()),
          stream_(engine_),
          from_(desc_of(view_of(source), size_of(source.type)), engine_, nullptr),
          to_(desc_of(view_of(target), size_of(source.type)), engine_, nullptr) {
        if (!is_plain_ && bytes_ > 0) reorder_ = dnnl::reorder(from_, to_);
    }

    void run(std::span<void* const> arguments, std::span<void* const> results, void*) override {
        if (bytes_ == 0) return;
        if (is_plain_) {
            std::memcpy(results[0], arguments[0], static_cast<size_t>(bytes_));
            return;
        }
        from_.set_data_handle(arguments[0]);
        to_.set_data_handle(results[0]);
        reorder_.execute(stream_, from_, to_);
    }

private:
    int64_t bytes_;
    bool is_plain_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_;
    dnnl::memory from_, to_;
    dnnl::reorder reorder_;
};

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    return std::make_unique<Copy>(program.buffers[step.arguments[0]],
                                  program.buffers[step.results[0]]);
}

}  // namespace

extern const LibraryCall copy{"copy", "oneDNN", "the same tensor in another order of storage",
                              {},     choices,  estimate,
                              prepare};

}  // namespace ollie::backends::cpu::calls
