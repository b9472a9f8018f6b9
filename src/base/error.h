#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

/// The three kinds of error, and no fourth.
///
///   Refusal      a value with a reason: a rule that does not apply, a call that does not match.
///   UserError    an exception: the user's model or command is wrong. Says which node, what was
///                found and what is allowed. Exit code 1. `Unsupported` is a UserError for input
///                that is legal but outside what the tool can do. Exit code 2.
///   InternalError an exception thrown by CHECK: a bug. Says the condition and the place.
///
/// The library never prints and never aborts: front doors catch these and print.
namespace ollie {

struct Refusal {
    std::string reason;
};

/// A value, or the reason why there is none.
template <typename T>
class OrRefusal {
public:
    OrRefusal(T value) : state_(std::move(value)) {}
    OrRefusal(Refusal refusal) : state_(std::move(refusal)) {}

    explicit operator bool() const { return state_.index() == 0; }
    const T& operator*() const { return std::get<0>(state_); }
    T& operator*() { return std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    const std::string& reason() const { return std::get<1>(state_).reason; }

private:
    std::variant<T, Refusal> state_;
};

template <typename... Args>
Refusal refuse(fmt::format_string<Args...> text, Args&&... args) {
    return Refusal{fmt::format(text, std::forward<Args>(args)...)};
}

class UserError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Unsupported : public UserError {
public:
    using UserError::UserError;
};

class InternalError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

template <typename... Args>
[[noreturn]] void throw_user_error(fmt::format_string<Args...> text, Args&&... args) {
    throw UserError(fmt::format(text, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void throw_unsupported(fmt::format_string<Args...> text, Args&&... args) {
    throw Unsupported(fmt::format(text, std::forward<Args>(args)...));
}

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& detail);

}  // namespace ollie

/// CHECK(condition) or CHECK(condition, "format {}", value): a bug if false, in every build.
#define CHECK(condition, ...)                                         \
    do {                                                              \
        if (!(condition)) [[unlikely]]                                \
            ::ollie::check_failed(#condition, __FILE__, __LINE__,     \
                                  ::ollie::detail_text(__VA_ARGS__)); \
    } while (false)

namespace ollie {
inline std::string detail_text() { return {}; }
template <typename... Args>
std::string detail_text(fmt::format_string<Args...> text, Args&&... args) {
    return fmt::format(text, std::forward<Args>(args)...);
}
}  // namespace ollie
