#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/onednn/post_operations.h"
#include "backends/cpu/onednn/view.h"

/// The executable form of any oneDNN call: one primitive or some in turn, their memory objects, and
/// constants packed in the formats that the primitives like.
namespace ollie::backends::cpu {

class OneDnnInstance : public CallInstance {
public:
    OneDnnInstance(const program::Step&, const program::Program&);

    const dnnl::engine& engine() const { return engine_; }

    /// Declares that the primitive's argument `role` (DNNL_ARG_SRC, ...) is this view of the step's
    /// argument, wanted in the format `wanted`: a constant is packed now, anything else is
    /// reordered by `run` where its format differs.
    void bind(int role, int argument, const View&, const dnnl::memory::desc& wanted);
    void bind_result(int role, int result, const View&);
    void bind_zeros(int role, const View&);
    void bind(const Epilogue&);
    /// Makes the primitive with what has been bound since the last one the next to run.
    void finish(dnnl::primitive, const dnnl::memory::desc& scratch, std::string implementation);

    int64_t scratch_bytes() const override { return scratch_bytes_; }
    bool reads_constants() const override { return false; }
    void run(std::span<void* const> arguments, std::span<void* const> results,
             void* scratch) override;
    std::string implementation() const override { return implementation_; }

private:
    /// Memory that lies in a buffer of the program.
    struct Bound {
        dnnl::memory memory;
        int buffer;
        bool is_result;
        int64_t offset;  ///< Bytes.
    };
    /// Memory that lies in the scratch memory of the step.
    struct Scratch {
        dnnl::memory memory;
        int64_t offset;  ///< Bytes.
    };
    using Arguments = std::vector<dnnl_exec_arg_t>;
    struct Work {
        dnnl::primitive primitive;
        Arguments arguments;
    };

    const program::Buffer& argument_buffer(int argument) const;
    dnnl::memory packed(const program::Buffer&, const Layout&, const View&,
                        const dnnl::memory::desc& wanted);
    dnnl::memory add_scratch(const dnnl::memory::desc&);
    void add_argument(int role, const dnnl::memory&);
    /// `liked` is `plain` in another format, before the next primitive runs.
    void add_reorder(const dnnl::memory& plain, const dnnl::memory& liked);
    void execute(const Work&);

    const program::Step& step_;
    const program::Program& program_;
    dnnl::engine engine_;
    dnnl::stream stream_;
    Arguments arguments_;  ///< Of the next primitive.
    std::vector<dnnl::memory> kept_;
    std::vector<Bound> bound_;
    std::vector<Scratch> scratch_;
    std::vector<Work> works_;
    int64_t scratch_bytes_ = 0;
    std::string implementation_;
};

/// What `make` builds, which the library has been seen to offer.
template <typename Make>
auto descriptor_or_fail(const Make& make) {
    try {
        return make();
    } catch (const dnnl::error& error) {
        throw InternalError(fmt::format("oneDNN refuses: {}", error.message));
    }
}

}  // namespace ollie::backends::cpu
