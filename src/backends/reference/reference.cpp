#include "backends/reference/reference.h"

#include <cstring>

#include "expr/evaluate.h"

namespace ollie::backends::reference {
namespace {

using program::Buffer;

/// Calls visit(row-major position, stored position) for every element.
template <typename Visit>
void for_each_element(const Buffer& buffer, Visit visit) {
    std::vector<int64_t> strides = buffer.strides();
    std::vector<int64_t> point(buffer.shape.size(), 0);
    int64_t count = element_count(buffer.shape);
    for (int64_t i = 0; i < count; ++i) {
        int64_t at = 0;
        for (size_t d = 0; d < point.size(); ++d) at += point[d] * strides[d];
        visit(i, at);
        for (size_t d = point.size(); d-- > 0 && ++point[d] == buffer.shape[d];) point[d] = 0;
    }
}

class Reference : public CallInstance {
public:
    Reference(const program::Step& step, const program::Program& program)
        : step_(step), program_(program) {
        for (int index : step.arguments)
            arguments_.emplace_back(program.buffers[index].type, program.buffers[index].shape);
    }

    void run(std::span<void* const> arguments, std::span<void* const> results, void*) override {
        expr::Bindings bindings;
        for (size_t i = 0; i < arguments_.size(); ++i) {
            const Buffer& buffer = program_.buffers[step_.arguments[i]];
            move(buffer, arguments_[i].data(), arguments[i], true);
            bindings[buffer.name] = &arguments_[i];
        }
        std::vector<HostArray> values = expr::evaluate(step_.meaning, bindings);
        for (size_t i = 0; i < values.size(); ++i) {
            const Buffer& buffer = program_.buffers[step_.results[i]];
            HostArray rounded(buffer.type, buffer.shape);
            for (int64_t k = 0; k < rounded.size(); ++k) rounded.set(k, values[i].at(k));
            move(buffer, rounded.data(), results[i], false);
        }
    }

    std::string implementation() const override { return "evaluator"; }

private:
    static void move(const Buffer& buffer, void* logical, void* stored, bool to_logical) {
        int64_t size = size_of(buffer.type);
        auto* x = static_cast<std::byte*>(logical);
        auto* y = static_cast<std::byte*>(stored);
        for_each_element(buffer, [&](int64_t i, int64_t at) {
            std::byte* there = x + i * size;
            std::byte* here = y + at * size;
            std::memcpy(to_logical ? there : here, to_logical ? here : there,
                        static_cast<size_t>(size));
        });
    }

    const program::Step& step_;
    const program::Program& program_;
    std::vector<HostArray> arguments_;
};

}  // namespace

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    return std::make_unique<Reference>(step, program);
}

}  // namespace ollie::backends::reference
