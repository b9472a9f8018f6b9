#include "cli/arguments.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/error.h"

namespace ollie::cli {
namespace {

constexpr int mismatch_code = 3;
constexpr int limit_code = 4;

std::atomic<bool> interrupted{false};

/// The second one ends the program.
void on_interrupt(int) {
    if (interrupted.exchange(true)) {
        std::signal(SIGINT, SIG_DFL);
        std::raise(SIGINT);
    }
}

double seconds_of(const std::string& text) {
    if (text.empty()) return 0;
    size_t end = 0;
    double value = 0;
    try {
        value = std::stod(text, &end);
    } catch (const std::exception&) {
        end = 0;
    }
    std::string unit = text.substr(end);
    double factor = unit.empty() || unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "m" ? 60 : 0;
    // Also refuses what is not a number.
    if (end == 0 || factor == 0 || !(value > 0 && value < 1e9))
        throw_user_error("--budget {}: a duration like 60s, 500ms or 2m is wanted", text);
    return value * factor;
}

/// "x:1x3x224x224"; the name may itself have colons. "x:" is a scalar.
std::pair<std::string, Shape> shape_of(const std::string& text) {
    size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0)
        throw_user_error("--shape {}: NAME:DIMxDIM... is wanted, like x:1x3x224x224", text);
    Shape shape;
    std::string rest = text.substr(colon + 1);
    size_t start = 0;
    while (start <= rest.size() && !rest.empty()) {
        size_t end = std::min(rest.find('x', start), rest.size());
        std::string number = rest.substr(start, end - start);
        if (number.empty() || number.size() > 15 ||
            !std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }))
            throw_user_error("--shape {}: \"{}\" is not a dimension", text, number);
        shape.push_back(std::stoll(number));
        start = end + 1;
    }
    return {text.substr(0, colon), shape};
}

std::map<std::string, Shape> shapes_of(const std::vector<std::string>& texts) {
    std::map<std::string, Shape> shapes;
    for (const std::string& text : texts) {
        auto [name, shape] = shape_of(text);
        if (!shapes.emplace(name, shape).second)
            throw_user_error("--shape {}: input \"{}\" is given twice", text, name);
    }
    return shapes;
}

int threads_of(int asked) {
    int processors = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return asked > 0 ? asked : processors;
}

std::string cache_folder() {
    auto value = [](const char* name) {
        const char* text = std::getenv(name);
        return std::string(text == nullptr ? "" : text);
    };
    if (!value("OLLIE_CACHE").empty()) return value("OLLIE_CACHE");
    if (!value("XDG_CACHE_HOME").empty()) return value("XDG_CACHE_HOME") + "/ollie";
    return value("HOME").empty() ? "" : value("HOME") + "/.cache/ollie";
}

}  // namespace

CLI::App* Registry::add(const std::string& name, const std::string& summary, Action action) const {
    CLI::App* sub = app.add_subcommand(name, summary);
    sub->add_flag("--json", arguments->json, "print one JSON object");
    sub->callback([&chosen = chosen, arguments = arguments, action = std::move(action)] {
        chosen = [arguments, action] { return action(*arguments); };
    });
    return sub;
}

void add_settings(CLI::App* sub, Arguments& a) {
    sub->add_option("--threads", a.threads, "threads; all cores if not given")
        ->check(CLI::Range(1, 4096));
    sub->add_option("--shape", a.shapes, "shape of an input, like x:1x3x224x224")
        ->allow_extra_args(false);
}

void add_limits(CLI::App* sub, Arguments& a) {
    sub->add_option("--accuracy", a.accuracy, "strict, default or fast")
        ->check(CLI::IsMember({"strict", "default", "fast"}));
    sub->add_option("--disable-rule", a.disabled, "a rule that must not be used")
        ->allow_extra_args(false);
    sub->add_option("--budget", a.budget, "time for search and measurement, like 60s");
    sub->add_flag("--no-measure", a.no_measure, "choose by estimates and known times");
    sub->add_option("--tuning", a.tuning,
                    "file of known times; OLLIE_CACHE/tuning.sqlite if not given");
}

api::Options options_of(const Arguments& a) {
    api::Options options;
    options.threads = threads_of(a.threads);
    options.shapes = shapes_of(a.shapes);
    options.budget_seconds = seconds_of(a.budget);
    options.accuracy = a.accuracy == "strict" ? api::Accuracy::Strict
                       : a.accuracy == "fast" ? api::Accuracy::Fast
                                              : api::Accuracy::Default;
    options.disabled_rules.insert(a.disabled.begin(), a.disabled.end());
    options.measure = !a.no_measure;
    options.seed = a.seed;
    options.stop = &interrupted;
    options.cache_folder = cache_folder();
    options.tuning_file = a.tuning;
    if (a.tuning.empty() && !options.cache_folder.empty())
        options.tuning_file = options.cache_folder + "/tuning.sqlite";
    api::pin_threads(options.threads);
    return options;
}

void keep_best_on_interrupt() { std::signal(SIGINT, on_interrupt); }

int print(const api::Report& report, const Arguments& a) {
    std::cout << (a.json ? report.json + "\n" : report.text);
    return report.mismatch ? mismatch_code : report.limit_reached ? limit_code : 0;
}

api::Progress progress_line() {
    if (isatty(STDERR_FILENO) == 0) return {};
    return [](const std::string& phase, double) {
        std::cerr << "\r\x1b[K" << phase << "..." << std::flush;
        if (phase == "done") std::cerr << "\r\x1b[K" << std::flush;
    };
}

}  // namespace ollie::cli
