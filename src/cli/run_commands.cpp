#include <algorithm>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/commands.h"

namespace ollie::cli {
namespace {

std::map<std::string, HostArray> read_inputs(const std::vector<std::string>& texts) {
    std::map<std::string, HostArray> inputs;
    for (const std::string& text : texts) {
        size_t equals = text.rfind('=');
        if (equals == std::string::npos || equals == 0)
            throw_user_error("--input {}: NAME=FILE.npy is wanted", text);
        if (!inputs.emplace(text.substr(0, equals), read_npy(text.substr(equals + 1))).second)
            throw_user_error("--input {}: \"{}\" is given twice", text, text.substr(0, equals));
    }
    return inputs;
}

/// The name of an output as that of a file.
std::string file_name(std::string name) {
    std::replace(name.begin(), name.end(), '/', '_');
    std::replace(name.begin(), name.end(), ':', '_');
    return name + ".npy";
}

int run(const Arguments& a) {
    auto outputs = api::run(a.model, read_inputs(a.inputs), a.seed, options_of(a));
    if (!a.output.empty()) std::filesystem::create_directories(a.output);
    for (const auto& [name, array] : outputs) {
        if (!a.output.empty()) write_npy(std::filesystem::path(a.output) / file_name(name), array);
        if (!a.json)
            std::cout << name << ": " << name_of(array.type()) << " " << to_text(array.shape())
                      << "\n";
    }
    if (a.json) std::cout << "{\"done\": true}\n";
    return 0;
}

}  // namespace

void add_run_commands(const Registry& registry) {
    Arguments& a = *registry.arguments;
    CLI::App* sub = registry.add("run", "run a compiled file or a model", run);
    sub->add_option("file", a.model, "compiled file or ONNX file")->required();
    sub->add_option("--input", a.inputs, "NAME=FILE.npy")->allow_extra_args(false);
    sub->add_option("--random", a.seed, "seed of inputs that are not given");
    sub->add_option("--output-dir", a.output, "folder for OUTPUT.npy files");
    add_settings(sub, a);
}

}  // namespace ollie::cli
