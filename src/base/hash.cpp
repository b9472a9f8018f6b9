#include "base/hash.h"

#include <bit>

#include <fmt/format.h>

namespace ollie {

std::string Key::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hasher& Hasher::add(double value) { return add(std::bit_cast<uint64_t>(value)); }

Hasher& Hasher::add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    uint64_t word = 0;
    int filled = 0;
    for (unsigned char c : text) {
        word = word << 8 | c;
        if (++filled == 8) {
            add(word);
            word = 0;
            filled = 0;
        }
    }
    if (filled > 0) add(word);
    return *this;
}

}  // namespace ollie
