#include "optimize/child_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

extern char** environ;

namespace ollie::optimize {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes) {
    std::vector<std::string> texts;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string text = *entry;
        bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& change) {
            return text.starts_with(change.first + "=");
        });
        if (!changed) texts.push_back(std::move(text));
    }
    for (const auto& [name, value] : changes) texts.push_back(name + "=" + value);
    return texts;
}

/// All that happens between fork and exec: system calls only.
[[noreturn]] void become(char* const* arguments, char* const* environment, int socket, int errors,
                         pid_t parent, const cpu_set_t* processors) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // It died before the line above.
    setpgid(0, 0);
    dup2(socket, STDIN_FILENO);
    dup2(socket, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    if (processors != nullptr) sched_setaffinity(0, sizeof *processors, processors);
    execvpe(arguments[0], arguments, environment);
    const char* reason = strerror(errno);
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, reason, strlen(reason));
    _exit(127);
}

/// "status 3" or "signal 11 (Segmentation fault)".
std::string ending(int status) {
    if (WIFEXITED(status)) return fmt::format("status {}", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) {
        return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return "an unknown status";
}

}  // namespace

ChildProcess::ChildProcess(const Command& command) {
    CHECK(!command.arguments.empty());
    program_ = command.arguments.front();
    std::vector<char*> arguments = pointers(command.arguments);
    std::vector<std::string> texts = environment_with(command.environment);
    std::vector<char*> environment = pointers(texts);
    cpu_set_t processors;
    CPU_ZERO(&processors);
    for (int processor : command.processors) CPU_SET(processor, &processors);

    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        throw_user_error("cannot start {}: {}", program_, strerror(errno));
    }
    socket_ = sockets[0];
    errors_ = memfd_create("standard error of a child", MFD_CLOEXEC);
    pid_t parent = getpid();
    id_ = fork();
    if (id_ == 0) {
        become(arguments.data(), environment.data(), sockets[1], errors_, parent,
               command.processors.empty() ? nullptr : &processors);
    }
    int error = errno;
    close(sockets[1]);
    if (id_ > 0) return;
    close(socket_);
    close(errors_);
    throw_user_error("cannot start {}: {}", program_, strerror(error));
}

ChildProcess::~ChildProcess() {
    end();
    close(socket_);
    close(errors_);
}

void ChildProcess::end() {
    if (ended_) return;
    kill(id_, SIGKILL);
    while (waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
}

std::string ChildProcess::error_output() const {
    constexpr off_t kept = 2000;
    struct stat facts {};
    if (fstat(errors_, &facts) != 0) return {};
    std::string text(static_cast<size_t>(std::min(facts.st_size, kept)), '\0');
    ssize_t count =
        pread(errors_, text.data(), text.size(), facts.st_size - static_cast<off_t>(text.size()));
    text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

void ChildProcess::fail(std::string_view what) {
    end();
    std::string written = error_output();
    throw_user_error("{}: {}{}{}", program_, what, written.empty() ? "" : ": ", written);
}

void ChildProcess::send(std::string_view line) {
    if (ended_) fail("ended before");
    std::string text = std::string(line) + "\n";
    std::string_view rest = text;
    while (!rest.empty()) {
        ssize_t count = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return;  // It ended; receive says how.
        rest.remove_prefix(static_cast<size_t>(count));
    }
}

std::string ChildProcess::receive(double timeout_seconds) {
    if (ended_) fail("ended before");
    using Clock = std::chrono::steady_clock;
    auto deadline = Clock::now() + std::chrono::duration<double>(timeout_seconds);
    size_t searched = 0;
    for (;;) {
        size_t newline = received_.find('\n', searched);
        if (newline != std::string::npos) {
            std::string line = received_.substr(0, newline);
            received_.erase(0, newline + 1);
            return line;
        }
        searched = received_.size();
        double left = std::chrono::duration<double>(deadline - Clock::now()).count();
        pollfd readable{socket_, POLLIN, 0};
        int milliseconds = static_cast<int>(std::clamp(left * 1e3 + 1, 0.0, 1e9));
        int ready = left > 0 ? poll(&readable, 1, milliseconds) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) fail(fmt::format("no answer within {} s", timeout_seconds));
        char buffer[1 << 16];
        ssize_t count = read(socket_, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        received_.append(buffer, static_cast<size_t>(count));
    }
    // It closed its output; give it a moment to end by itself, for its status.
    for (int i = 0; i < 100 && !ended_; ++i) {
        ended_ = waitpid(id_, &status_, WNOHANG) == id_;
        if (!ended_) usleep(10000);
    }
    end();
    fail("ended with " + ending(status_));
}

void ChildProcess::suspend() {
    if (ended_) return;
    kill(id_, SIGSTOP);
    int status = 0;
    while (waitpid(id_, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
    if (WIFSTOPPED(status)) return;
    status_ = status;
    ended_ = true;
}

void ChildProcess::resume() {
    if (!ended_) kill(id_, SIGCONT);
}

}  // namespace ollie::optimize
