#include <memory>

#include "api/ollie.h"
#include "base/parallel.h"
#include "optimize/measure.h"
#include "optimize/pipeline.h"
#include "optimize/timing.h"
#include "runtime/session.h"

namespace ollie::api {
namespace {

program::Program program_of(const std::filesystem::path& file, const Options& options) {
    return runtime::is_compiled_file(file) ? runtime::load(file)
                                           : optimize::compile_unoptimized(file, options);
}

void check_names(const program::Program& program, const std::map<std::string, HostArray>& inputs) {
    for (const auto& [name, array] : inputs) {
        bool known = false;
        for (int index : program.inputs) known = known || program.buffers[index].name == name;
        if (!known) throw_user_error("the model has no input \"{}\"", name);
    }
}

}  // namespace

std::vector<std::pair<std::string, HostArray>> run(const std::filesystem::path& file,
                                                   const std::map<std::string, HostArray>& inputs,
                                                   uint64_t seed, const Options& options) {
    auto program = std::make_shared<const program::Program>(program_of(file, options));
    check_names(*program, inputs);
    std::vector<HostArray> all = optimize::random_inputs(*program, seed);
    for (size_t i = 0; i < all.size(); ++i) {
        const program::Buffer& buffer = program->buffers[program->inputs[i]];
        auto given = inputs.find(buffer.name);
        if (given == inputs.end()) continue;
        if (given->second.shape() != buffer.shape || given->second.type() != buffer.type)
            throw_user_error("input \"{}\" is {} {}, the model wants {} {}", buffer.name,
                             name_of(given->second.type()), to_text(given->second.shape()),
                             name_of(buffer.type), to_text(buffer.shape));
        all[i] = given->second;
    }
    std::vector<HostArray> outputs = runtime::Session(program).run(all);
    std::vector<std::pair<std::string, HostArray>> result;
    for (size_t i = 0; i < outputs.size(); ++i)
        result.emplace_back(program->buffers[program->outputs[i]].name, std::move(outputs[i]));
    return result;
}

void pin_threads(int count) { optimize::pin_team(optimize::processors_for(count)); }

}  // namespace ollie::api
