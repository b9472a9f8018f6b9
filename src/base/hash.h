#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ollie {

/// splitmix64's finalizer: a bijection on 64 bits with full avalanche (Steele, Lea, Flood 2014).
constexpr uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

constexpr uint64_t combine(uint64_t seed, uint64_t value) { return mix(seed ^ mix(value)); }

/// A 128-bit key. Equal keys are taken to mean equal things.
struct Key {
    uint64_t high = 0;
    uint64_t low = 0;
    auto operator<=>(const Key&) const = default;
    std::string hex() const;
};

/// Hashes a stream of words and text into a Key; order matters.
class Hasher {
public:
    Hasher& add(uint64_t value) {
        high_ = combine(high_, value);
        low_ = combine(low_ + 0x632be59bd9b4e019ull, value);
        return *this;
    }
    Hasher& add(double value);
    Hasher& add(std::string_view text);
    Hasher& add(const Key& key) { return add(key.high).add(key.low); }
    Key key() const { return {high_, low_}; }

private:
    uint64_t high_ = 0x243f6a8885a308d3ull;
    uint64_t low_ = 0x13198a2e03707344ull;
};

}  // namespace ollie

template <>
struct std::hash<ollie::Key> {
    size_t operator()(const ollie::Key& key) const noexcept { return key.low; }
};
