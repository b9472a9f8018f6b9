#include <csignal>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"

namespace {

enum ExitCode {
    Done = 0,
    BadInput = 1,
    NotSupported = 2,
    Mismatch = 3,
    LimitReached = 4,
    Bug = 70
};

int run_guarded(const std::function<int()>& command) {
    try {
        int code = command();
        if (!std::cout.flush()) ollie::throw_user_error("standard output cannot be written");
        return code;
    } catch (const ollie::Unsupported& error) {
        std::cerr << "ollie: unsupported: " << error.what() << "\n";
        return NotSupported;
    } catch (const ollie::UserError& error) {
        std::cerr << "ollie: " << error.what() << "\n";
        return BadInput;
    } catch (const std::filesystem::filesystem_error& error) {
        std::cerr << "ollie: " << error.what() << "\n";
        return BadInput;
    } catch (const std::bad_alloc&) {
        std::cerr << "ollie: out of memory\n";
        return BadInput;
    } catch (const std::exception& error) {
        std::cerr << "ollie: internal error: " << error.what() << "\n";
        return Bug;
    }
}

}  // namespace

int main(int argc, char** argv) {
    // A limit on the size of files is an error like that of a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    CLI::App app("Ollie: derives a faster program from an ONNX model and proves it equal");
    app.require_subcommand(1);
    app.set_version_flag("--version", "ollie " + ollie::api::version());
    std::function<int()> command;
    ollie::cli::Registry registry{app, command};
    ollie::cli::add_optimize_commands(registry);
    ollie::cli::add_run_commands(registry);
    ollie::cli::add_bench_commands(registry);
    ollie::cli::add_inspect_commands(registry);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        int code = app.exit(error);
        return code == 0 ? Done : BadInput;
    }
    return run_guarded(command);
}
