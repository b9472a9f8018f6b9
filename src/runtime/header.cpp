#include "runtime/header.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/text.h"
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

/// JSON texts are UTF-8 and its numbers finite; names of a model may be any bytes, and attributes
/// any doubles: {"bytes": [...]} and "inf", "nan" stand for those.
bool is_utf8(const std::string& text) {
    try {
        json(text).dump();
        return true;
    } catch (const json::exception&) {
        return false;
    }
}

json to_json(const std::string& text) {
    return is_utf8(text) ? json(text)
                         : json{{"bytes", std::vector<uint8_t>(text.begin(), text.end())}};
}
json to_json(double number) {
    return std::isfinite(number) ? json(number) : json(number_text(number));
}
json to_json(int64_t number) { return number; }

json to_json(const Buffer&);
json to_json(const Step&);
json to_json(const TrailStep&);
json to_json(const Derivation&);

template <typename T>
json to_json(const std::vector<T>& list) {
    json array = json::array();
    for (const T& element : list) array.push_back(to_json(element));
    return array;
}

void read(const json& value, std::string& text) {
    if (!value.is_object()) {
        text = value.get<std::string>();
        return;
    }
    auto bytes = value.at("bytes").get<std::vector<uint8_t>>();
    text.assign(bytes.begin(), bytes.end());
}
void read(const json& value, double& number) {
    if (!value.is_string()) {
        number = value.get<double>();
        return;
    }
    const std::string text = value.get<std::string>();
    number = TextReader(text).number();
}
void read(const json& value, int64_t& number) { number = value.get<int64_t>(); }
void read(const json& value, bool& truth) { truth = value.get<bool>(); }

void read(const json&, TrailStep&);
void read(const json&, Derivation&);

template <typename T>
void read(const json& value, std::vector<T>& list) {
    if (!value.is_array()) throw_user_error("a list is missing");
    for (const json& element : value) read(element, list.emplace_back());
}

template <typename T>
T get(const json& object, const char* name) {
    T value{};
    read(object.at(name), value);
    return value;
}

/// The kind of an attribute is kept, since 1 and 1.0 are different.
const char* const attribute_kinds[] = {"int", "float", "text", "ints", "floats", "texts"};

/// A list of [name, kind, value].
json to_json(const Attributes& attributes) {
    json list = json::array();
    for (const auto& [name, attribute] : attributes)
        list.push_back({to_json(name), attribute_kinds[attribute.index()],
                        std::visit([](const auto& value) { return to_json(value); }, attribute)});
    return list;
}

template <typename T>
Attribute attribute_of(const json& value) {
    T result{};
    read(value, result);
    return result;
}

Attribute attribute_from(const std::string& kind, const json& value) {
    if (kind == "int") return attribute_of<int64_t>(value);
    if (kind == "float") return attribute_of<double>(value);
    if (kind == "text") return attribute_of<std::string>(value);
    if (kind == "ints") return attribute_of<std::vector<int64_t>>(value);
    if (kind == "floats") return attribute_of<std::vector<double>>(value);
    if (kind == "texts") return attribute_of<std::vector<std::string>>(value);
    throw_user_error("there is no kind of attribute \"{}\"", kind);
}

Attributes attributes_from(const json& list) {
    Attributes attributes;
    for (const json& entry : list) {
        std::string name;
        read(entry.at(0), name);
        attributes[name] = attribute_from(entry.at(1).get<std::string>(), entry.at(2));
    }
    return attributes;
}

json to_json(const StepCost& cost) {
    return {{"estimated", to_json(cost.estimated)}, {"measured", to_json(cost.measured)}};
}

StepCost cost_from(const json& object) {
    return {get<double>(object, "estimated"), get<double>(object, "measured")};
}

json to_json(const Buffer& buffer) {
    return {{"name", to_json(buffer.name)},
            {"type", name_of(buffer.type)},
            {"shape", buffer.shape},
            {"order", buffer.layout.order},
            {"role", role_names[static_cast<int>(buffer.role)]}};
}

/// Bytes of the buffer must be a number that memory could hold.
void check_shape(const Buffer& buffer) {
    int64_t bytes = size_of(buffer.type);
    for (int64_t extent : buffer.shape) {
        if (extent < 0) throw_user_error("buffer {} has a negative extent", buffer.name);
        if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes))
            throw_user_error("buffer {} is too large", buffer.name);
    }
    std::vector<int> sorted = buffer.layout.order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != Layout::row_major(buffer.shape.size()).order)
        throw_user_error("buffer {} has no valid order of storage", buffer.name);
}

Buffer buffer_from(const json& object) {
    Buffer buffer;
    buffer.name = get<std::string>(object, "name");
    auto type = element_type_of(object.at("type").get<std::string>());
    if (!type) throw_user_error("buffer {} has no known type", buffer.name);
    buffer.type = *type;
    buffer.shape = get<Shape>(object, "shape");
    buffer.layout.order = object.at("order").get<std::vector<int>>();
    check_shape(buffer);
    const std::string role = object.at("role").get<std::string>();
    auto found = std::find(std::begin(role_names), std::end(role_names), role);
    if (found == std::end(role_names)) throw_user_error("buffer {} is a {}", buffer.name, role);
    buffer.role = static_cast<Role>(found - std::begin(role_names));
    return buffer;
}

std::string meaning_text(const expr::Expr& meaning) {
    return meaning.outputs.empty() ? "" : expr::print(program::without_values(meaning));
}

json to_json(const Step& step) {
    return {{"kind", step.kind == StepKind::Call ? "call" : "kernel"},
            {"target", to_json(step.target)},
            {"parameters", to_json(step.parameters)},
            {"arguments", step.arguments},
            {"results", step.results},
            {"meaning", to_json(meaning_text(step.meaning))},
            {"origin", to_json(step.origin)},
            {"cost", to_json(step.cost)},
            {"changes_nonfinite", step.changes_nonfinite}};
}

void check_indices(const std::vector<int>& list, size_t buffers) {
    for (int index : list)
        if (index < 0 || static_cast<size_t>(index) >= buffers)
            throw_user_error("there is no buffer {}", index);
}

Step step_from(const json& object, size_t buffers) {
    Step step;
    step.kind = get<std::string>(object, "kind") == "call" ? StepKind::Call : StepKind::Kernel;
    step.target = get<std::string>(object, "target");
    step.parameters = attributes_from(object.at("parameters"));
    step.arguments = object.at("arguments").get<std::vector<int>>();
    step.results = object.at("results").get<std::vector<int>>();
    check_indices(step.arguments, buffers);
    check_indices(step.results, buffers);
    const std::string meaning = get<std::string>(object, "meaning");
    if (!meaning.empty()) step.meaning = expr::parse(meaning);
    step.origin = get<expr::Origin>(object, "origin");
    step.cost = cost_from(object.at("cost"));
    step.changes_nonfinite = get<bool>(object, "changes_nonfinite");
    return step;
}

json to_json(const TrailStep& step) {
    return {{"rule", to_json(step.rule)},
            {"place", to_json(step.place)},
            {"parameters", to_json(step.parameters)},
            {"facts", to_json(step.facts)},
            {"after", to_json(step.after)}};
}

void read(const json& object, TrailStep& step) {
    step = {get<std::string>(object, "rule"), get<std::string>(object, "place"),
            get<std::string>(object, "parameters"), get<std::vector<std::string>>(object, "facts"),
            get<std::string>(object, "after")};
}

json to_json(const Derivation& d) {
    return {{"name", to_json(d.name)},
            {"origin", to_json(d.origin)},
            {"before", to_json(d.before)},
            {"trail", to_json(d.trail)},
            {"chosen", to_json(d.chosen)},
            {"cost", to_json(d.cost)},
            {"unoptimized", to_json(d.unoptimized)},
            {"alternatives", to_json(d.alternatives)},
            {"identity", to_json(d.identity)},
            {"lets_nonfinite_spread", d.lets_nonfinite_spread},
            {"search", to_json(d.search)}};
}

void read(const json& object, Derivation& d) {
    d.name = get<std::string>(object, "name");
    d.origin = get<expr::Origin>(object, "origin");
    d.before = get<std::string>(object, "before");
    d.trail = get<std::vector<TrailStep>>(object, "trail");
    d.chosen = get<std::string>(object, "chosen");
    d.cost = cost_from(object.at("cost"));
    d.unoptimized = cost_from(object.at("unoptimized"));
    d.alternatives = get<std::vector<std::string>>(object, "alternatives");
    d.identity = get<std::string>(object, "identity");
    d.lets_nonfinite_spread = get<bool>(object, "lets_nonfinite_spread");
    d.search = attributes_from(object.at("search"));
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
    program.code_target = get<std::string>(object, "code_target");
    program.derivations = get<std::vector<Derivation>>(object, "derivations");
    program.facts = attributes_from(object.at("facts"));
    return program;
}

}  // namespace

std::string header_text(const Program& program, const std::string& device) {
    json object;
    object["device"] = device;
    object["buffers"] = to_json(program.buffers);
    object["steps"] = to_json(program.steps);
    object["inputs"] = program.inputs;
    object["outputs"] = program.outputs;
    object["code_target"] = to_json(program.code_target);
    object["code_bytes"] = program.code.size();
    object["derivations"] = to_json(program.derivations);
    object["facts"] = to_json(program.facts);
    return object.dump();
}

Header program_from_header(std::string_view text, const std::string& where) {
    try {
        json object = json::parse(text);
        return {program_from(object), object.at("code_bytes").get<uint64_t>(),
                get<std::string>(object, "device")};
    } catch (const json::exception& error) {
        throw_user_error("{}: damaged header: {}", where, error.what());
    } catch (const UserError& error) {
        throw_user_error("{}: damaged header: {}", where, error.what());
    }
}

}  // namespace ollie::runtime
