#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ollie::runtime {

/// XXH64 with seed 0 of a stream of bytes (Collet, xxHash, 2014): several bytes per cycle, so that
/// checking a file of weights costs less than reading it.
class Checksum {
public:
    void add(const void* data, size_t bytes);
    uint64_t value() const;

private:
    void add_block(const std::byte* block);

    static constexpr size_t block_bytes = 32;
    static constexpr uint64_t prime1 = 0x9e3779b185ebca87ull;
    static constexpr uint64_t prime2 = 0xc2b2ae3d27d4eb4full;
    std::array<uint64_t, 4> lanes_{prime1 + prime2, prime2, 0, 0 - prime1};
    std::array<std::byte, block_bytes> pending_{};
    size_t pending_bytes_ = 0;
    uint64_t total_ = 0;
};

}  // namespace ollie::runtime
