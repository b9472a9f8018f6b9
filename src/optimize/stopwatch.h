#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace ollie::optimize {

/// Notes how long each phase takes and tells the progress listener.
class Stopwatch {
public:
    using Listener = std::function<void(const std::string& phase, double done)>;

    Stopwatch(Listener listener, std::map<std::string, double>& seconds)
        : listener_(std::move(listener)), seconds_(seconds) {}

    void phase(const std::string& name) {
        finish();
        current_ = name;
        if (listener_) listener_(name, 0);
    }

    void finish() {
        auto now = std::chrono::steady_clock::now();
        if (!current_.empty())
            seconds_[current_] += std::chrono::duration<double>(now - began_).count();
        began_ = now;
        current_.clear();
    }

private:
    Listener listener_;
    std::map<std::string, double>& seconds_;
    std::string current_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace ollie::optimize
