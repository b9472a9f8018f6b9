#include "runtime/header.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "expr/parse.h"
#include "expr/print.h"
#include "program/print.h"

namespace ollie::runtime {
namespace {

using json = nlohmann::json;
using program::Buffer;
using program::Derivation;
using program::Program;
using program::Role;
using program::Step;
using program::StepCost;
using program::StepKind;
using program::TrailStep;

const char* const role_names[] = {"input", "output", "constant", "scratch"};

/// The kind of an attribute is kept, since 1 and 1.0 are different.
const char* const attribute_kinds[] = {"int", "float", "text", "ints", "floats", "texts"};

json to_json(const Attributes& attributes) {
    json object = json::object();
    for (const auto& [name, attribute] : attributes)
        std::visit(
            [&, &name = name, kind = attribute_kinds[attribute.index()]](const auto& value) {
                object[name] = {{kind, value}};
            },
            attribute);
    return object;
}

Attributes attributes_from(const json& object) {
    Attributes attributes;
    for (const auto& [name, value] : object.items()) {
        const std::string kind = value.begin().key();
        const json& v = value.begin().value();
        if (kind == "int") attributes[name] = v.get<int64_t>();
        if (kind == "float") attributes[name] = v.get<double>();
        if (kind == "text") attributes[name] = v.get<std::string>();
        if (kind == "ints") attributes[name] = v.get<std::vector<int64_t>>();
        if (kind == "floats") attributes[name] = v.get<std::vector<double>>();
        if (kind == "texts") attributes[name] = v.get<std::vector<std::string>>();
    }
    return attributes;
}

json to_json(const StepCost& cost) {
    return {{"estimated", cost.estimated}, {"measured", cost.measured}};
}

StepCost cost_from(const json& object) {
    return {object.at("estimated").get<double>(), object.at("measured").get<double>()};
}

json to_json(const Buffer& buffer) {
    return {{"name", buffer.name},
            {"type", name_of(buffer.type)},
            {"shape", buffer.shape},
            {"order", buffer.layout.order},
            {"role", role_names[static_cast<int>(buffer.role)]},
            {"has_values", buffer.values != nullptr}};
}

Buffer buffer_from(const json& object) {
    Buffer buffer;
    buffer.name = object.at("name").get<std::string>();
    auto type = element_type_of(object.at("type").get<std::string>());
    if (!type) throw_user_error("buffer {} has no known type", buffer.name);
    buffer.type = *type;
    buffer.shape = object.at("shape").get<Shape>();
    for (int64_t extent : buffer.shape)
        if (extent < 0) throw_user_error("buffer {} has a negative extent", buffer.name);
    buffer.layout.order = object.at("order").get<std::vector<int>>();
    std::vector<int> sorted = buffer.layout.order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != Layout::row_major(buffer.shape.size()).order)
        throw_user_error("buffer {} has no valid order of storage", buffer.name);
    const std::string role = object.at("role").get<std::string>();
    auto found = std::find(std::begin(role_names), std::end(role_names), role);
    if (found == std::end(role_names)) throw_user_error("buffer {} is a {}", buffer.name, role);
    buffer.role = static_cast<Role>(found - std::begin(role_names));
    if (object.at("has_values").get<bool>())
        buffer.values = std::make_shared<const HostArray>(ElementType::U8, Shape{0});
    return buffer;
}

std::string meaning_text(const expr::Expr& meaning) {
    return meaning.outputs.empty() ? "" : expr::print(program::without_values(meaning));
}

json to_json(const Step& step) {
    return {{"kind", step.kind == StepKind::Call ? "call" : "kernel"},
            {"target", step.target},
            {"parameters", to_json(step.parameters)},
            {"arguments", step.arguments},
            {"results", step.results},
            {"meaning", meaning_text(step.meaning)},
            {"origin", step.origin},
            {"cost", to_json(step.cost)}};
}

void check_indices(const std::vector<int>& list, size_t buffers) {
    for (int index : list)
        if (index < 0 || static_cast<size_t>(index) >= buffers)
            throw_user_error("there is no buffer {}", index);
}

Step step_from(const json& object, size_t buffers) {
    Step step;
    step.kind = object.at("kind").get<std::string>() == "call" ? StepKind::Call : StepKind::Kernel;
    step.target = object.at("target").get<std::string>();
    step.parameters = attributes_from(object.at("parameters"));
    step.arguments = object.at("arguments").get<std::vector<int>>();
    step.results = object.at("results").get<std::vector<int>>();
    check_indices(step.arguments, buffers);
    check_indices(step.results, buffers);
    const std::string meaning = object.at("meaning").get<std::string>();
    if (!meaning.empty()) step.meaning = expr::parse(meaning);
    step.origin = object.at("origin").get<expr::Origin>();
    step.cost = cost_from(object.at("cost"));
    return step;
}

json to_json(const TrailStep& step) {
    return {{"rule", step.rule},
            {"place", step.place},
            {"parameters", step.parameters},
            {"facts", step.facts},
            {"after", step.after}};
}

TrailStep trail_step_from(const json& object) {
    return {object.at("rule").get<std::string>(), object.at("place").get<std::string>(),
            object.at("parameters").get<std::string>(),
            object.at("facts").get<std::vector<std::string>>(),
            object.at("after").get<std::string>()};
}

json to_json(const Derivation& d) {
    json trail = json::array();
    for (const TrailStep& step : d.trail) trail.push_back(to_json(step));
    return {{"name", d.name},
            {"origin", d.origin},
            {"before", d.before},
            {"trail", trail},
            {"chosen", d.chosen},
            {"cost", to_json(d.cost)},
            {"unoptimized", to_json(d.unoptimized)},
            {"alternatives", d.alternatives},
            {"identity", d.identity},
            {"lets_nonfinite_spread", d.lets_nonfinite_spread},
            {"search", to_json(d.search)}};
}

Derivation derivation_from(const json& object) {
    Derivation d;
    d.name = object.at("name").get<std::string>();
    d.origin = object.at("origin").get<expr::Origin>();
    d.before = object.at("before").get<std::string>();
    for (const json& step : object.at("trail")) d.trail.push_back(trail_step_from(step));
    d.chosen = object.at("chosen").get<std::string>();
    d.cost = cost_from(object.at("cost"));
    d.unoptimized = cost_from(object.at("unoptimized"));
    d.alternatives = object.at("alternatives").get<std::vector<std::string>>();
    d.identity = object.at("identity").get<std::string>();
    d.lets_nonfinite_spread = object.at("lets_nonfinite_spread").get<bool>();
    d.search = attributes_from(object.at("search"));
    return d;
}

Program program_from(const json& object) {
    Program program;
    for (const json& buffer : object.at("buffers")) program.buffers.push_back(buffer_from(buffer));
    for (const json& step : object.at("steps"))
        program.steps.push_back(step_from(step, program.buffers.size()));
    program.inputs = object.at("inputs").get<std::vector<int>>();
    program.outputs = object.at("outputs").get<std::vector<int>>();
    check_indices(program.inputs, program.buffers.size());
    check_indices(program.outputs, program.buffers.size());
    program.code_target = object.at("code_target").get<std::string>();
    for (const json& derivation : object.at("derivations"))
        program.derivations.push_back(derivation_from(derivation));
    program.facts = attributes_from(object.at("facts"));
    return program;
}

}  // namespace

std::string header_text(const Program& program) {
    json object;
    object["buffers"] = json::array();
    for (const Buffer& buffer : program.buffers) object["buffers"].push_back(to_json(buffer));
    object["steps"] = json::array();
    for (const Step& step : program.steps) object["steps"].push_back(to_json(step));
    object["inputs"] = program.inputs;
    object["outputs"] = program.outputs;
    object["code_target"] = program.code_target;
    object["code_bytes"] = program.code.size();
    object["derivations"] = json::array();
    for (const Derivation& d : program.derivations) object["derivations"].push_back(to_json(d));
    object["facts"] = to_json(program.facts);
    return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Program program_from_header(std::string_view text, size_t& code_bytes, const std::string& where) {
    try {
        json object = json::parse(text);
        code_bytes = object.at("code_bytes").get<size_t>();
        return program_from(object);
    } catch (const json::exception& error) {
        throw_user_error("{}: damaged header: {}", where, error.what());
    } catch (const UserError& error) {
        throw_user_error("{}: damaged header: {}", where, error.what());
    }
}

}  // namespace ollie::runtime
