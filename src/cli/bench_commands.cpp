#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace ollie::cli {
namespace {

int bench(const Arguments& a) {
    api::BenchRequest request{a.model, a.other, a.against, a.details, {}};
    return print(api::bench(request, options_of(a), progress_line()), a);
}

}  // namespace

void add_bench_commands(const Registry& registry) {
    Arguments& a = *registry.arguments;
    CLI::App* sub = registry.add(
        "bench", "compare with the unoptimized program and with other runtimes", bench);
    sub->add_option("model", a.model, "ONNX file")->required();
    sub->add_option("compiled", a.other, "compiled file; the model is optimized if not given");
    sub->add_option("--against", a.against, "runtimes: onnxruntime, openvino")
        ->delimiter(',')
        ->allow_extra_args(false);
    sub->add_flag("--details", a.details, "with --json: settings, times alone and in turn");
    add_settings(sub, a);
    add_limits(sub, a);

    CLI::App* child = registry.app.add_subcommand("bench-child", "one contestant of a comparison");
    child->group("");
    child->callback([&chosen = registry.chosen] {
        chosen = [] {
            api::bench_child();
            return 0;
        };
    });
}

}  // namespace ollie::cli
