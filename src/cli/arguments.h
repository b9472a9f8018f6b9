#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/ollie.h"

namespace CLI {
class App;
}

/// What the command groups share: the values of all flags, and how they become options.
namespace ollie::cli {

struct Arguments {
    std::string model;
    std::string other;
    std::string output;
    std::string language;
    std::string target;
    std::string accuracy = "default";
    std::string budget;
    std::string tuning;
    std::vector<std::string> shapes;
    std::vector<std::string> inputs;
    std::vector<std::string> disabled;
    std::vector<std::string> against;
    uint64_t seed = 1;
    int threads = 0;
    bool json = false;
    bool details = false;
    bool no_measure = false;
    bool explore = false;
    bool markdown = false;
};

/// Where subcommands are added. The one that the command line chooses sets `chosen`, which is then
/// called and returns the exit code.
struct Registry {
    CLI::App& app;
    std::function<int()>& chosen;
    std::shared_ptr<Arguments> arguments = std::make_shared<Arguments>();

    using Action = std::function<int(const Arguments&)>;
    /// With --json.
    CLI::App* add(const std::string& name, const std::string& summary, Action action) const;
};

/// --threads and --shape.
void add_settings(CLI::App*, Arguments&);
/// What bounds and steers optimization: --budget, --disable-rule, --no-measure, --tuning, ...
void add_limits(CLI::App*, Arguments&);

/// Errors: UserError for a value that is none. Binds the threads to one core each.
api::Options options_of(const Arguments&);

/// Ctrl-C from here on asks for the best so far; only the second one ends the program.
void keep_best_on_interrupt();

/// Prints text or JSON; the exit code.
int print(const api::Report&, const Arguments&);

/// One line on a terminal that is overwritten; nothing elsewhere.
api::Progress progress_line();

}  // namespace ollie::cli
