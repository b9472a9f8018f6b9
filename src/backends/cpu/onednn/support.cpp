#include "backends/cpu/onednn/support.h"

#include <map>
#include <mutex>

#include "base/hash.h"

namespace ollie::backends::cpu {
namespace {

/// Answers of the library by problem; empty: yes, else the reason why not. What is remembered is
/// the value of a function, so it does not matter who asked first.
class Answers {
public:
    std::optional<std::string> find(const Key& key) {
        std::lock_guard lock(mutex_);
        auto found = reasons_.find(key);
        if (found == reasons_.end()) return std::nullopt;
        return found->second;
    }
    void add(const Key& key, const std::string& reason) {
        std::lock_guard lock(mutex_);
        if (reasons_.size() >= most) reasons_.clear();
        reasons_[key] = reason;
    }

private:
    static constexpr size_t most = 1 << 16;
    std::mutex mutex_;
    std::map<Key, std::string> reasons_;
};

Key key_of(std::string_view call, const Attributes& parameters) {
    Hasher hasher;
    hasher.add(call);
    for (const auto& [name, value] : parameters) {
        hasher.add(name);
        if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
            hasher.add(static_cast<uint64_t>(ints->size()));
            for (int64_t i : *ints) hasher.add(static_cast<uint64_t>(i));
        } else {
            hasher.add(to_text(value));
        }
    }
    return hasher.key();
}

std::string ask(const std::function<std::string()>& describe) {
    try {
        std::string implementation = describe();
        if (!implementation.starts_with("ref")) return {};
        return fmt::format("the library has only a reference implementation ({})", implementation);
    } catch (const dnnl::error& error) {
        return fmt::format("the library refuses: {}", error.message);
    }
}

}  // namespace

OrRefusal<bool> is_supported(std::string_view call, const Attributes& parameters,
                             const std::function<std::string()>& describe) {
    static Answers answers;
    Key key = key_of(call, parameters);
    std::optional<std::string> reason = answers.find(key);
    if (!reason) {
        reason = ask(describe);
        answers.add(key, *reason);
    }
    if (reason->empty()) return true;
    return Refusal{*reason};
}

bool has_same_layouts(const CallChoice& a, const CallChoice& b) {
    return a.argument_layouts == b.argument_layouts && a.result_layout == b.result_layout &&
           a.arguments == b.arguments;
}

}  // namespace ollie::backends::cpu
