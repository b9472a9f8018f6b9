#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "expr/evaluate.h"
#include "express/express.h"
#include "onnx/onnx.h"
#include "operators/operator.h"

/// evaluate_cases --operators: the names of all operators of the import catalogue.
/// evaluate_cases DIRECTORY: for every line "NAME ..." of DIRECTORY/cases.txt reads NAME.onnx and
/// NAME.input<i>.npy and writes, by the reference evaluator, NAME.float64.<i>.npy and
/// NAME.float32.<i>.npy; where the model is refused, NAME.refused with the reason.

namespace ollie {
namespace {

namespace fs = std::filesystem;

fs::path file(const fs::path& directory, const std::string& name, const std::string& kind,
              size_t index) {
    return directory / fmt::format("{}.{}{}.npy", name, kind, index);
}

void write_all(const std::vector<HostArray>& arrays, const fs::path& directory,
               const std::string& name, const std::string& kind) {
    for (size_t i = 0; i < arrays.size(); ++i) write_npy(file(directory, name, kind, i), arrays[i]);
}

void evaluate_case(const fs::path& directory, const std::string& name) {
    graph::Graph graph = onnx::read(directory / (name + ".onnx"));
    expr::Expr whole = express::express(graph);
    std::map<std::string, HostArray> inputs;
    expr::Bindings bindings;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
        const std::string& input = graph.values[graph.inputs[i]].name;
        inputs[input] = read_npy(file(directory, name, "input", i));
        bindings[input] = &inputs[input];
    }
    write_all(expr::evaluate(whole, bindings), directory, name, "float64.");
    write_all(expr::evaluate_float32(whole, bindings), directory, name, "float32.");
}

void evaluate_cases(const fs::path& directory) {
    std::ifstream list(directory / "cases.txt");
    for (std::string line; std::getline(list, line);) {
        std::string name = line.substr(0, line.find(' '));
        fs::path refusal = directory / (name + ".refused");
        fs::remove(refusal);
        try {
            evaluate_case(directory, name);
        } catch (const std::exception& error) {
            std::ofstream(refusal) << error.what();
        }
    }
}

void print_operators() {
    std::vector<std::string> names;
    for (const operators::Operator* entry : operators::catalogue()) {
        names.push_back(entry->name);
        names.insert(names.end(), entry->also.begin(), entry->also.end());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) std::puts(name.c_str());
}

}  // namespace
}  // namespace ollie

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("usage: evaluate_cases --operators | DIRECTORY\n", stderr);
        return 1;
    }
    if (std::string(arguments[1]) == "--operators")
        ollie::print_operators();
    else
        ollie::evaluate_cases(arguments[1]);
    return 0;
}
