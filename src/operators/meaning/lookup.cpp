#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "operators/operator.h"

namespace ollie::operators {
namespace {

std::map<std::string, const Operator*, std::less<>> by_name() {
    std::map<std::string, const Operator*, std::less<>> result;
    for (const Operator* entry : catalogue()) {
        result.emplace(entry->name, entry);
        for (const std::string& name : entry->also) result.emplace(name, entry);
    }
    return result;
}

}  // namespace

const Operator* find(const std::string& domain, const std::string& name) {
    static const auto table = by_name();
    if (!domain.empty() && domain != "ai.onnx") return nullptr;
    auto found = table.find(name);
    return found == table.end() ? nullptr : found->second;
}

std::vector<const expr::Tensor*> express(const Context& context) {
    const graph::Node& node = context.node;
    const Operator* entry = find(node.domain, node.operator_name);
    if (entry == nullptr) context.unsupported("no such operator in the catalogue");
    if (context.opset < entry->since)
        context.unsupported(
            fmt::format("opset {}, expected {} or later", context.opset, entry->since));
    std::vector<const expr::Tensor*> results = entry->express(context);
    if (results.size() < node.outputs.size())
        context.unsupported(fmt::format("{} outputs are used, {} are supported",
                                        node.outputs.size(), results.size()));
    results.resize(node.outputs.size());
    for (size_t i = 0; i < results.size(); ++i)
        if (node.outputs[i] < 0) results[i] = nullptr;
    return results;
}

std::string documentation() {
    std::string text =
        "# Operators\n\n"
        "The ONNX operators whose meaning is known, from the objects in `src/operators/`.\n"
        "Everything else is refused with a list of all nodes concerned.\n\n"
        "| operator | opset | meaning |\n|---|---|---|\n";
    for (const auto& [name, entry] : by_name())
        text += fmt::format("| {} | {} | {} |\n", name, entry->since, entry->summary);
    text += "\n## Attributes\n\n| operators | attribute | meaning |\n|---|---|---|\n";
    for (const Operator* entry : catalogue()) {
        std::vector<std::string> names{entry->name};
        names.insert(names.end(), entry->also.begin(), entry->also.end());
        for (const Attribute& attribute : entry->attributes)
            text += fmt::format("| {} | {} | {} |\n", fmt::join(names, ", "), attribute.name,
                                attribute.summary);
    }
    return text;
}

}  // namespace ollie::operators
