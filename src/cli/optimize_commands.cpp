#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace ollie::cli {
namespace {

int optimize(const Arguments& a) {
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
