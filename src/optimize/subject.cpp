#include "optimize/subject.h"

#include <cerrno>
#include <iostream>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace ollie::optimize {

namespace {

using Json = nlohmann::json;

Json load(Subject& subject, const Json& request) {
    LoadRequest load;
    load.model = request.at("model").get<std::string>();
    load.processors = request.at("cpus").get<std::vector<int>>();
    for (const Json& input : request.at("inputs")) {
        load.inputs.push_back(
            {input.at("name").get<std::string>(), input.at("file").get<std::string>()});
    }
    pin_team(load.processors);
    Loaded loaded = subject.load(load);
    return {{"ok", true}, {"version", loaded.version}, {"settings", loaded.settings}};
}

Json block(Subject& subject, const Json& request) {
    BlockSettings settings{request.at("seconds").get<double>(),
                           request.value("warm_seconds", BlockSettings{}.warm_seconds)};
    Json times = Json::array();
    for (double seconds : time_block([&] { subject.run_once(); }, settings)) {
        times.push_back(static_cast<int64_t>(seconds * 1e9 + 0.5));
    }
    return {{"ok", true}, {"nanoseconds", times}};
}

Json run(Subject& subject, const Json& request) {
    std::filesystem::path folder = request.at("into").get<std::string>();
    subject.run_once();
    Json listed = Json::array();
    for (const NamedArray& output : subject.outputs()) {
        std::filesystem::path file = folder / ("output_" + std::to_string(listed.size()) + ".npy");
        write_npy(file, output.array);
        listed.push_back({{"name", output.name}, {"file", file.string()}});
    }
    return {{"ok", true}, {"outputs", listed}};
}

Json answer(Subject& subject, const Json& request) {
    std::string what = request.at("do").get<std::string>();
    if (what == "load") return load(subject, request);
    if (what == "block") return block(subject, request);
    if (what == "run") return run(subject, request);
    throw_user_error("unknown request '{}'", what);
}

void write_line(int file, std::string_view line) {
    std::string text = std::string(line) + "\n";
    for (std::string_view rest = text; !rest.empty();) {
        ssize_t count = write(file, rest.data(), rest.size());
        if (count < 0 && errno != EINTR) return;
        rest.remove_prefix(static_cast<size_t>(count < 0 ? 0 : count));
    }
}

}  // namespace

void serve(Subject& subject, std::istream& requests,
           const std::function<void(std::string_view)>& reply) {
    for (std::string line; std::getline(requests, line);) {
        Json result;
        try {
            Json request = Json::parse(line);
            if (request.value("do", "") == "quit") return;
            result = answer(subject, request);
        } catch (const std::exception& error) {
            result = {{"ok", false}, {"error", error.what()}};
        }
        reply(result.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
}

void serve_standard_streams(Subject& subject) {
    int replies = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    serve(subject, std::cin, [&](std::string_view line) { write_line(replies, line); });
    dup2(replies, STDOUT_FILENO);
    close(replies);
}

}  // namespace ollie::optimize
