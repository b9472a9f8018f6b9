#include <filesystem>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"

namespace ollie::cli {
namespace {

/// What is in the way of writing is said before the search, which may take minutes.
void check_output(const Arguments& a) {
    std::error_code ignored;
    if (std::filesystem::equivalent(a.model, a.output, ignored))
        throw_user_error("{}: the model itself; give another name for the compiled file", a.output);
    PartialFile probe(a.output);
}

int optimize(const Arguments& a) {
    check_output(a);
    keep_best_on_interrupt();
    return print(api::optimize(a.model, a.output, options_of(a), progress_line()), a);
}

int verify(const Arguments& a) { return print(api::verify(a.model, a.other, options_of(a)), a); }

}  // namespace

void add_optimize_commands(const Registry& registry) {
    Arguments& a = *registry.arguments;
    CLI::App* sub =
        registry.add("optimize", "derive, prove, measure and write a faster program", optimize);
    sub->add_option("model", a.model, "ONNX file")->required();
    sub->add_option("-o,--output", a.output, "compiled file")->required();
    add_settings(sub, a);
    add_limits(sub, a);

    sub = registry.add("verify", "compare a compiled file with its model in float64", verify);
    sub->add_option("model", a.model, "ONNX file")->required();
    sub->add_option("compiled", a.other, "compiled file")->required();
    add_settings(sub, a);
}

}  // namespace ollie::cli
