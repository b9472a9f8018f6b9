#pragma once

#include <map>
#include <vector>

#include "expr/evaluate.h"
#include "program/program.h"

namespace ollie::testing {

/// Outputs of the program by the meaning of its steps alone, in float64 rounded to each buffer's
/// type.
inline std::vector<HostArray> interpret(const program::Program& program,
                                        const std::vector<HostArray>& inputs) {
    std::map<int, HostArray> values;
    for (size_t i = 0; i < inputs.size(); ++i) values[program.inputs[i]] = inputs[i];
    for (size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].values) values[static_cast<int>(i)] = *program.buffers[i].values;
    for (const program::Step& step : program.steps) {
        expr::Bindings bindings;
        for (int index : step.arguments) bindings[program.buffers[index].name] = &values.at(index);
        std::vector<HostArray> results = expr::evaluate(step.meaning, bindings);
        for (size_t k = 0; k < results.size(); ++k)
            for (int index : step.results) {
                const program::Buffer& buffer = program.buffers[index];
                if (buffer.name != step.meaning.outputs[k]->name) continue;
                HostArray rounded(buffer.type, buffer.shape);
                for (int64_t e = 0; e < rounded.size(); ++e) rounded.set(e, results[k].at(e));
                values[index] = std::move(rounded);
            }
    }
    std::vector<HostArray> outputs;
    for (int index : program.outputs) outputs.push_back(values.at(index));
    return outputs;
}

}  // namespace ollie::testing
