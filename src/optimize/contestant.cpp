#include "optimize/contestant.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "optimize/temporary_folder.h"

namespace ollie::optimize {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// The child's answer; UserError where it says that it failed.
Json ask(ChildProcess& child, const Json& request, double timeout_seconds,
         const std::string& name) {
    child.send(request.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::string line = child.receive(timeout_seconds);
    Json reply = Json::parse(line, nullptr, false);
    if (!reply.is_object() || !reply.contains("ok")) {
        throw_user_error("{}: not an answer: {}", name, line.substr(0, 200));
    }
    if (!reply["ok"].get<bool>() && !reply.contains("absent")) {
        std::string written = child.error_output();
        throw_user_error("{}: {}{}{}", name, reply.value("error", "failed"),
                         written.empty() ? "" : "; it wrote: ", written);
    }
    return reply;
}

Json to_json(const LoadRequest& request, const std::string& model) {
    Json inputs = Json::array();
    for (const NamedFile& input : request.inputs) {
        inputs.push_back({{"name", input.name}, {"file", input.file.string()}});
    }
    return {{"do", "load"},
            {"model", model.empty() ? request.model : model},
            {"threads", request.threads()},
            {"cpus", request.processors},
            {"inputs", inputs}};
}

/// Places for the OpenMP runtime of a child, so that its team is bound however often it is resized.
std::vector<std::pair<std::string, std::string>> binding(const std::vector<int>& processors) {
    std::string places;
    for (int processor : processors) {
        places += fmt::format("{}{{{}}}", places.empty() ? "" : ",", processor);
    }
    return {{"OMP_NUM_THREADS", std::to_string(processors.size())},
            {"OMP_PROC_BIND", "true"},
            {"OMP_PLACES", places}};
}

fs::path own_path() {
    std::error_code error;
    fs::path path = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : path;
}

/// `relative` in the nearest folder above the running program that has it; empty if none.
fs::path find_above(const fs::path& relative) {
    std::error_code ignored;
    for (fs::path folder = own_path().parent_path(); !folder.empty();
         folder = folder.parent_path()) {
        if (fs::exists(folder / relative, ignored)) return folder / relative;
        if (folder == folder.parent_path()) break;
    }
    return {};
}

fs::path from_environment_or_above(const char* variable, const fs::path& relative) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0' ? fs::path(value) : find_above(relative);
}

class AbsentContestant : public Contestant {
public:
    AbsentContestant(std::string name, std::string reason)
        : name_(std::move(name)), reason_(std::move(reason)) {}

    const std::string& name() const override { return name_; }
    OrRefusal<Loaded> prepare(const LoadRequest&) override { return Refusal{reason_}; }
    std::vector<double> run_block(const BlockSettings&) override { return {}; }
    std::vector<HostArray> outputs() override { return {}; }

private:
    std::string name_;
    std::string reason_;
};

}  // namespace

ChildContestant::ChildContestant(std::string name, Command command, std::string model,
                                 Limits limits)
    : name_(std::move(name)),
      command_(std::move(command)),
      model_(std::move(model)),
      limits_(limits) {}

ChildContestant::ChildContestant(std::string name, Command command, std::string model)
    : ChildContestant(std::move(name), std::move(command), std::move(model), Limits{}) {}

ChildContestant::~ChildContestant() = default;

OrRefusal<Loaded> ChildContestant::prepare(const LoadRequest& request) {
    Command command = command_;
    command.processors = request.processors;
    for (auto& variable : binding(request.processors)) {
        command.environment.push_back(std::move(variable));
    }
    child_ = std::make_unique<ChildProcess>(command);
    Json reply = ask(*child_, to_json(request, model_), limits_.load_seconds, name_);
    if (!reply["ok"].get<bool>()) {
        child_.reset();
        return refuse("{}", reply["absent"].get<std::string>());
    }
    return Loaded{reply.value("version", ""), reply.value("settings", "")};
}

std::vector<double> ChildContestant::run_block(const BlockSettings& settings) {
    CHECK(child_ != nullptr, "{} is not prepared", name_);
    Json request = {
        {"do", "block"}, {"seconds", settings.seconds}, {"warm_seconds", settings.warm_seconds}};
    double timeout = settings.seconds + settings.warm_seconds + limits_.run_seconds;
    Json reply = ask(*child_, request, timeout, name_);
    std::vector<double> seconds;
    for (const Json& nanoseconds : reply.at("nanoseconds")) {
        seconds.push_back(nanoseconds.get<double>() * 1e-9);
    }
    return seconds;
}

std::vector<HostArray> ChildContestant::outputs() {
    CHECK(child_ != nullptr, "{} is not prepared", name_);
    TemporaryFolder folder;
    Json request = {{"do", "run"}, {"into", folder.path().string()}};
    Json reply = ask(*child_, request, limits_.run_seconds, name_);
    std::vector<HostArray> arrays;
    for (const Json& output : reply.at("outputs")) {
        arrays.push_back(read_npy(output.at("file").get<std::string>()));
    }
    return arrays;
}

void ChildContestant::suspend() {
    if (child_) child_->suspend();
}

void ChildContestant::resume() {
    if (child_) child_->resume();
}

const std::vector<std::string>& known_rivals() {
    static const std::vector<std::string> names = {"onnxruntime", "openvino"};
    return names;
}

OrRefusal<Command> rival_command(const std::string& runtime) {
    const auto& known = known_rivals();
    if (std::find(known.begin(), known.end(), runtime) == known.end()) {
        throw_user_error("no runtime '{}' to compare with; known are: {}", runtime,
                         fmt::join(known, ", "));
    }
    fs::path python = from_environment_or_above("OLLIE_RIVALS_PYTHON", ".deps/venv/bin/python");
    fs::path script = from_environment_or_above("OLLIE_RIVALS_SCRIPT", "tools/rivals/run_rival.py");
    if (python.empty()) {
        return refuse("no Python for {}: none in .deps/venv, and OLLIE_RIVALS_PYTHON names none",
                      runtime);
    }
    if (script.empty()) {
        return refuse("no script that runs {}: OLLIE_RIVALS_SCRIPT names none", runtime);
    }
    return Command{{python.string(), script.string(), runtime}};
}

std::unique_ptr<Contestant> rival(const std::string& runtime) {
    OrRefusal<Command> command = rival_command(runtime);
    if (!command) return std::make_unique<AbsentContestant>(runtime, command.reason());
    return std::make_unique<ChildContestant>(runtime, *command);
}

Command own_command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), own_path().string());
    return Command{std::move(arguments)};
}

}  // namespace ollie::optimize
