#pragma once

#include <cmath>

#include "expr/evaluate.h"
#include "express/express.h"
#include "onnx/onnx.h"
#include "optimize/models.h"
#include "optimize/pipeline.h"
#include "optimize/temporary_folder.h"
#include "runtime/session.h"

/// What tests of the whole pipeline ask of its outcomes.
namespace ollie::optimize {

/// Unmeasured, on one thread, and with a short search; one cache of object code for all tests.
inline Options small_options() {
    static const TemporaryFolder cache;
    Options options;
    options.cache_folder = cache.path().string();
    options.threads = 1;
    options.measure = false;
    options.search_depth = 2;
    options.search_states = 40;
    options.candidates = 3;
    return options;
}

inline std::vector<HostArray> inputs_for(const program::Program& program) {
    std::vector<HostArray> inputs;
    for (int index : program.inputs) {
        const program::Buffer& buffer = program.buffers[index];
        HostArray array(buffer.type, buffer.shape);
        for (int64_t i = 0; i < array.size(); ++i)
            array.set(i, std::cos(static_cast<double>(3 * i + index)));
        inputs.push_back(std::move(array));
    }
    return inputs;
}

/// What the model means, by the evaluator, against what the written file computes.
inline void expect_right(const std::filesystem::path& model, const program::Program& program) {
    std::filesystem::path file = model.parent_path() / "compiled";
    runtime::save(program, file);
    runtime::Session session(std::make_shared<const program::Program>(runtime::load(file)));
    std::vector<HostArray> inputs = inputs_for(program);
    expr::Bindings bindings;
    for (size_t i = 0; i < inputs.size(); ++i)
        bindings[program.buffers[program.inputs[i]].name] = &inputs[i];
    std::vector<HostArray> exact =
        expr::evaluate(express::express(onnx::read(model, {})), bindings);
    std::vector<HostArray> actual = session.run(inputs);
    ASSERT_EQ(actual.size(), exact.size());
    for (size_t k = 0; k < exact.size(); ++k)
        for (int64_t i = 0; i < exact[k].size(); ++i)
            ASSERT_NEAR(actual[k].at(i), exact[k].at(i), 1e-4) << "element " << i;
}

}  // namespace ollie::optimize
