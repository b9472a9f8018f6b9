#include <cstring>

#include "backends/reference/calls.h"
#include "expr/evaluate.h"
#include "expr/visit.h"
#include "tensor/strided_copy.h"

namespace ollie::backends::reference::calls {
namespace {

StridedCopy to_row_major(const program::Buffer& buffer) {
    return StridedCopy::between(size_of(buffer.type), buffer.shape, buffer.layout,
                                Layout::row_major(buffer.shape.size()));
}

StridedCopy from_row_major(const program::Buffer& buffer) {
    return StridedCopy::between(size_of(buffer.type), buffer.shape,
                                Layout::row_major(buffer.shape.size()), buffer.layout);
}

/// Float64 values rounded to the type; integers as they are.
HostArray rounded(const HostArray& exact, ElementType type) {
    if (exact.type() == type) return exact;
    HostArray result(type, exact.shape());
    for (int64_t i = 0; i < exact.size(); ++i) result.set(i, exact.at(i));
    return result;
}

class ReferenceInstance : public CallInstance {
public:
    ReferenceInstance(const program::Step& step, const program::Program& program)
        : meaning_(step.meaning) {
        for (int index : step.arguments) {
            const program::Buffer& buffer = program.buffers[static_cast<size_t>(index)];
            arguments_.push_back({HostArray(buffer.type, buffer.shape), to_row_major(buffer)});
            names_.push_back(buffer.name);
        }
        for (int index : step.results) {
            const program::Buffer& buffer = program.buffers[static_cast<size_t>(index)];
            results_.push_back(from_row_major(buffer));
            types_.push_back(buffer.type);
        }
    }

    /// Slow and obvious: allocates, unlike other calls.
    void run(std::span<void* const> arguments, std::span<void* const> results, void*) override {
        expr::Bindings bindings;
        for (size_t i = 0; i < arguments_.size(); ++i) {
            arguments_[i].copy.run(arguments[i], arguments_[i].array.data());
            bindings[names_[i]] = &arguments_[i].array;
        }
        std::vector<HostArray> values = expr::evaluate(meaning_, bindings);
        for (size_t i = 0; i < values.size(); ++i)
            results_[i].run(rounded(values[i], types_[i]).data(), results[i]);
    }

    std::string implementation() const override { return "float64"; }

private:
    struct Argument {
        HostArray array;
        StridedCopy copy;
    };
    expr::Expr meaning_;
    std::vector<Argument> arguments_;
    std::vector<std::string> names_;
    std::vector<StridedCopy> results_;
    std::vector<ElementType> types_;
};

OrRefusal<std::vector<CallChoice>> choices(const match::Binding& binding) {
    CallChoice choice;
    for (const expr::Tensor* source : expr::sources_of(binding.definition)) {
        choice.arguments.push_back(source);
        choice.argument_layouts.push_back(Layout::row_major(source->rank()));
    }
    choice.result_layout = Layout::row_major(binding.definition->rank());
    return std::vector<CallChoice>{choice};
}

/// One scalar operation of the interpreter takes some 50 ns.
double estimate(const match::Binding& binding, const CallChoice&, const match::Machine&) {
    double points = static_cast<double>(element_count(binding.definition->shape()));
    double operations = 0;
    expr::for_each_scalar(binding.definition->body, [&](expr::Scalar scalar) {
        operations += 1;
        double inner = 1;
        for (const expr::Axis& axis : scalar->axes) inner *= static_cast<double>(axis.extent());
        operations *= inner;
    });
    return 50e-9 * points * operations;
}

std::unique_ptr<CallInstance> prepare(const program::Step& step, const program::Program& program) {
    return std::make_unique<ReferenceInstance>(step, program);
}

}  // namespace

/// Without patterns: it is never found by matching, but chosen where nothing else can be.
extern const LibraryCall reference{
    "reference", "none",  "evaluates the step's meaning in float64, one element at a time",
    {},          choices, estimate,
    prepare};

}  // namespace ollie::backends::reference::calls
