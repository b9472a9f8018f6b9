#include <iostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace ollie::cli {
namespace {

int explain(const Arguments& a) { return print(api::explain(a.model), a); }

int emit(const Arguments& a) {
    std::cout << api::emit(a.model, a.language, options_of(a));
    return 0;
}

int derive(const Arguments& a) {
    keep_best_on_interrupt();
    return print(api::derive(a.model, a.target, a.explore, options_of(a)), a);
}

int rules(const Arguments& a) {
    if (!a.markdown) return print(api::rules(), a);
    std::cout << api::rules_page();
    return 0;
}

int operators(const Arguments& a) {
    if (!a.markdown) return print(api::operators(), a);
    std::cout << api::operators_page();
    return 0;
}

}  // namespace

void add_inspect_commands(const Registry& registry) {
    Arguments& a = *registry.arguments;
    CLI::App* sub = registry.add("explain", "what was derived, chosen, tried and lost", explain);
    sub->add_option("compiled", a.model, "compiled file")->required();

    sub = registry.add("emit", "print one of the languages", emit);
    sub->add_option("file", a.model, "ONNX file or compiled file")->required();
    sub->add_option("language", a.language, "graph, expr, derivation, program, source or plan")
        ->required();
    add_settings(sub, a);

    sub = registry.add("derive", "derive from an expression, without a model", derive);
    sub->add_option("file", a.model, "expression file")->required();
    sub->add_option("--target", a.target, "only what ends in this library call");
    sub->add_flag("--explore", a.explore, "no limit but depth");
    add_settings(sub, a);
    add_limits(sub, a);

    sub = registry.add("rules", "the rules of derivation", rules);
    sub->add_flag("--markdown", a.markdown, "the page docs/rules.md");
    sub = registry.add("ops", "the ONNX operators that can be read", operators);
    sub->add_flag("--markdown", a.markdown, "the page docs/operators.md");
}

}  // namespace ollie::cli
