#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/error.h"

namespace ollie::cli {
namespace {

constexpr int mismatch_code = 3;
constexpr int limit_code = 4;

std::atomic<bool> interrupted{false};

void on_interrupt(int) { interrupted = true; }

/// What the flags of a command were set to.
struct Arguments {
    std::string model;
    std::string other;
    std::string output;
    std::string language;
    std::string target;
    std::string accuracy = "default";
    std::string budget;
    std::vector<std::string> shapes;
    std::vector<std::string> inputs;
    std::vector<std::string> disabled;
    uint64_t seed = 1;
    int threads = 0;
    bool json = false;
    bool no_measure = false;
    bool explore = false;
    bool markdown = false;
};

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
    if (end == 0 || factor == 0 || value <= 0)
        throw_user_error("--budget {}: a duration like 60s, 500ms or 2m is wanted", text);
    return value * factor;
}

/// "x:1x3x224x224"; the name may itself have colons.
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

api::Options options_of(const Arguments& arguments) {
    api::Options options;
    if (arguments.threads < 0) throw_user_error("--threads {}: at least 1", arguments.threads);
    options.threads = arguments.threads > 0
                          ? arguments.threads
                          : static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    for (const std::string& text : arguments.shapes) options.shapes.insert(shape_of(text));
    options.budget_seconds = seconds_of(arguments.budget);
    options.accuracy = arguments.accuracy == "strict" ? api::Accuracy::Strict
                       : arguments.accuracy == "fast" ? api::Accuracy::Fast
                                                      : api::Accuracy::Default;
    options.disabled_rules.insert(arguments.disabled.begin(), arguments.disabled.end());
    options.measure = !arguments.no_measure;
    options.seed = arguments.seed;
    options.stop = &interrupted;
    const char* cache = std::getenv("OLLIE_CACHE");
    const char* home = std::getenv("HOME");
    if (cache != nullptr)
        options.cache_folder = cache;
    else if (home != nullptr)
        options.cache_folder = std::string(home) + "/.cache/ollie";
    api::pin_threads(options.threads);
    return options;
}

int print(const api::Report& report, bool json) {
    std::cout << (json ? report.json + "\n" : report.text);
    return report.mismatch ? mismatch_code : report.limit_reached ? limit_code : 0;
}

/// One line on a terminal that is overwritten; nothing elsewhere.
api::Progress progress_line() {
    if (isatty(STDERR_FILENO) == 0) return {};
    return [](const std::string& phase, double) {
        std::cerr << "\r\x1b[K" << phase << "..." << std::flush;
        if (phase == "done") std::cerr << "\r\x1b[K" << std::flush;
    };
}

class Commands {
public:
    Commands(CLI::App& app, std::function<int()>& command)
        : app_(app), command_(command), arguments_(std::make_shared<Arguments>()) {}

    void add_all() {
        add_optimize();
        add_run();
        add_verify();
        add_explain();
        add_emit();
        add_derive();
        add_catalogues();
    }

private:
    CLI::App* command(const std::string& name, const std::string& summary) {
        CLI::App* sub = app_.add_subcommand(name, summary);
        sub->add_flag("--json", arguments_->json, "print one JSON object");
        return sub;
    }

    void add_settings(CLI::App* sub) {
        sub->add_option("--threads", arguments_->threads, "threads; all cores if not given");
        sub->add_option("--shape", arguments_->shapes, "shape of an input, like x:1x3x224x224");
    }

    void add_limits(CLI::App* sub) {
        sub->add_option("--disable-rule", arguments_->disabled, "a rule that must not be used");
        sub->add_option("--budget", arguments_->budget, "time for search and measurement");
        sub->add_flag("--no-measure", arguments_->no_measure, "choose by estimates");
    }

    void add_optimize() {
        CLI::App* sub = command("optimize", "derive, prove, measure and write a faster program");
        sub->add_option("model", arguments_->model, "ONNX file")->required();
        sub->add_option("-o,--output", arguments_->output, "compiled file")->required();
        sub->add_option("--accuracy", arguments_->accuracy, "strict, default or fast")
            ->check(CLI::IsMember({"strict", "default", "fast"}));
        add_settings(sub);
        add_limits(sub);
        sub->callback([this, a = arguments_] {
            command_ = [a] {
                std::signal(SIGINT, on_interrupt);
                api::Options options = options_of(*a);
                return print(api::optimize(a->model, a->output, options, progress_line()), a->json);
            };
        });
    }

    void add_run() {
        CLI::App* sub = command("run", "run a compiled file or a model");
        sub->add_option("file", arguments_->model, "compiled file or ONNX file")->required();
        sub->add_option("--input", arguments_->inputs, "NAME=FILE.npy");
        sub->add_option("--random", arguments_->seed, "seed of inputs that are not given");
        sub->add_option("--output-dir", arguments_->output, "folder for OUTPUT.npy files");
        add_settings(sub);
        sub->callback([this, a = arguments_] { command_ = [a] { return run(*a); }; });
    }

    static int run(const Arguments& a) {
        std::map<std::string, HostArray> inputs;
        for (const std::string& text : a.inputs) {
            size_t equals = text.rfind('=');
            if (equals == std::string::npos)
                throw_user_error("--input {}: NAME=FILE.npy is wanted", text);
            inputs.emplace(text.substr(0, equals), read_npy(text.substr(equals + 1)));
        }
        for (auto& [name, array] : api::run(a.model, inputs, a.seed, options_of(a))) {
            std::string file = name;
            std::replace(file.begin(), file.end(), '/', '_');
            std::replace(file.begin(), file.end(), ':', '_');
            if (!a.output.empty()) {
                std::filesystem::create_directories(a.output);
                write_npy(std::filesystem::path(a.output) / (file + ".npy"), array);
            }
            if (!a.json)
                std::cout << name << ": " << name_of(array.type()) << " "
                          << to_text(array.shape()) << "\n";
        }
        if (a.json) std::cout << "{\"done\": true}\n";
        return 0;
    }

    void add_verify() {
        CLI::App* sub = command("verify", "compare a compiled file with its model in float64");
        sub->add_option("model", arguments_->model, "ONNX file")->required();
        sub->add_option("compiled", arguments_->other, "compiled file")->required();
        add_settings(sub);
        sub->callback([this, a = arguments_] {
            command_ = [a] { return print(api::verify(a->model, a->other, options_of(*a)), a->json); };
        });
    }

    void add_explain() {
        CLI::App* sub = command("explain", "what was derived, chosen, tried and lost");
        sub->add_option("compiled", arguments_->model, "compiled file")->required();
        sub->callback([this, a = arguments_] {
            command_ = [a] { return print(api::explain(a->model), a->json); };
        });
    }

    void add_emit() {
        CLI::App* sub = command("emit", "print one of the languages");
        sub->add_option("file", arguments_->model, "ONNX file or compiled file")->required();
        sub->add_option("language", arguments_->language,
                        "graph, expr, derivation, program, source or plan")
            ->required();
        add_settings(sub);
        sub->callback([this, a = arguments_] {
            command_ = [a] {
                std::cout << api::emit(a->model, a->language, options_of(*a));
                return 0;
            };
        });
    }

    void add_derive() {
        CLI::App* sub = command("derive", "derive from an expression, without a model");
        sub->add_option("file", arguments_->model, "expression file")->required();
        sub->add_option("--target", arguments_->target, "only what ends in this library call");
        sub->add_flag("--explore", arguments_->explore, "no limit but depth");
        add_settings(sub);
        add_limits(sub);
        sub->callback([this, a = arguments_] {
            command_ = [a] {
                std::signal(SIGINT, on_interrupt);
                return print(api::derive(a->model, a->target, a->explore, options_of(*a)), a->json);
            };
        });
    }

    void add_catalogues() {
        CLI::App* rules = command("rules", "the rules of derivation");
        rules->add_flag("--markdown", arguments_->markdown, "the page docs/rules.md");
        rules->callback([this, a = arguments_] {
            command_ = [a] {
                if (!a->markdown) return print(api::rules(), a->json);
                std::cout << api::rules_page();
                return 0;
            };
        });
        CLI::App* ops = command("ops", "the ONNX operators that can be read");
        ops->add_flag("--markdown", arguments_->markdown, "the page docs/operators.md");
        ops->callback([this, a = arguments_] {
            command_ = [a] {
                if (!a->markdown) return print(api::operators(), a->json);
                std::cout << api::operators_page();
                return 0;
            };
        });
    }

    CLI::App& app_;
    std::function<int()>& command_;
    std::shared_ptr<Arguments> arguments_;
};

}  // namespace

void add_commands(CLI::App& app, std::function<int()>& command) {
    static std::vector<std::unique_ptr<Commands>> alive;
    alive.push_back(std::make_unique<Commands>(app, command));
    alive.back()->add_all();
}

}  // namespace ollie::cli
