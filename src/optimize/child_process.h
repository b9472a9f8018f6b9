#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ollie::optimize {

/// How to start a program. The first argument is the program, a path or a name found in PATH.
struct Command {
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< Besides our own.
    std::vector<int> processors = {};  ///< That it may run on; empty: those the caller may.
};

/// A program in a process of its own that answers lines with lines: its standard input and output
/// are one socket, its standard error is kept for error messages. It dies with the thread that
/// started it (so start it from the main thread), however that ends, and with this object.
///
/// Errors: UserError that says what was run and ends with what it wrote to standard error.
class ChildProcess {
public:
    explicit ChildProcess(const Command&);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    void send(std::string_view line);
    /// The next line. Waits that long at most; a child that is late is killed.
    std::string receive(double timeout_seconds);

    /// Takes all of its threads off the processors, and lets them go on. A line that is sent
    /// meanwhile waits.
    void suspend();
    void resume();

    int id() const { return id_; }
    /// The end of what it wrote to standard error.
    std::string error_output() const;

private:
    [[noreturn]] void fail(std::string_view what);
    void end();

    std::string program_;
    int id_ = -1;
    int socket_ = -1;
    int errors_ = -1;
    int status_ = 0;
    bool ended_ = false;
    std::string received_;
};

}  // namespace ollie::optimize
