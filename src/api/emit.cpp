#include <memory>

#include "api/ollie.h"
#include "codegen/codegen.h"
#include "expr/print.h"
#include "express/express.h"
#include "onnx/onnx.h"
#include "optimize/pipeline.h"
#include "plan/plan.h"
#include "program/print.h"
#include "runtime/session.h"

namespace ollie::api {
namespace {

program::Program program_of(const std::filesystem::path& file, const Options& options) {
    return runtime::is_compiled_file(file) ? runtime::load(file, runtime::MadeFor::AnyDevice)
                                           : optimize::compile_unoptimized(file, options);
}

graph::Graph graph_of(const std::filesystem::path& file, const Options& options,
                      const std::string& language) {
    if (runtime::is_compiled_file(file))
        throw_user_error("{}: a compiled file has no {}; give the model", file.string(), language);
    return onnx::read(file, {options.shapes});
}

std::string expressions_of(const std::filesystem::path& file, const Options& options) {
    if (!runtime::is_compiled_file(file))
        return expr::print(express::express(graph_of(file, options, "expr")));
    std::string text;
    for (const program::Step& step : runtime::load(file, runtime::MadeFor::AnyDevice).steps)
        text += expr::print(step.meaning) + "\n";
    return text;
}

std::string source_of(const program::Program& program) {
    std::string text;
    for (const program::Step& step : program.steps) {
        if (step.kind != program::StepKind::Kernel) continue;
        codegen::KernelProblem problem;
        problem.group = step.meaning;
        for (int index : step.arguments)
            problem.argument_layouts.push_back(program.buffers[index].layout);
        for (int index : step.results)
            problem.result_layouts.push_back(program.buffers[index].layout);
        auto schedules = codegen::schedules(problem, 1);
        auto chosen = find_string(step.parameters, "schedule");
        problem.schedule = schedules.front();
        for (const codegen::Schedule& schedule : schedules)
            if (schedule.text() == chosen.value_or("")) problem.schedule = schedule;
        problem.symbol = step.target;
        text += "// " + step.target + "\n" + codegen::source(problem) + "\n";
    }
    return text;
}

}  // namespace

std::string emit(const std::filesystem::path& file, const std::string& language,
                 const Options& options) {
    if (language == "graph") return graph::print(graph_of(file, options, language));
    if (language == "expr") return expressions_of(file, options);
    program::Program program = program_of(file, options);
    if (language == "derivation") return program::print_derivations(program);
    if (language == "program") return program::print(program);
    if (language == "plan") return program::print(program, plan::plan(program, {}));
    if (language == "source") return source_of(program);
    throw_user_error(
        "there is no language \"{}\"; the languages are graph, expr, derivation, program, source, "
        "plan",
        language);
}

}  // namespace ollie::api
