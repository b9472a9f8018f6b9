#include "runtime/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ollie::runtime {
namespace {

constexpr uint64_t prime1 = 0x9e3779b185ebca87ull;
constexpr uint64_t prime2 = 0xc2b2ae3d27d4eb4full;
constexpr uint64_t prime3 = 0x165667b19e3779f9ull;
constexpr uint64_t prime4 = 0x85ebca77c2b2ae63ull;
constexpr uint64_t prime5 = 0x27d4eb2f165667c5ull;

template <typename Word>
uint64_t word_at(const std::byte* bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
}

uint64_t round(uint64_t lane, uint64_t word) {
    return std::rotl(lane + word * prime2, 31) * prime1;
}

}  // namespace

void Checksum::add_block(const std::byte* block) {
    for (size_t i = 0; i < lanes_.size(); ++i)
        lanes_[i] = round(lanes_[i], word_at<uint64_t>(block + 8 * i));
}

void Checksum::add(const void* data, size_t bytes) {
    const auto* next = static_cast<const std::byte*>(data);
    if (bytes == 0) return;
    total_ += bytes;
    if (pending_bytes_ > 0) {
        size_t taken = std::min(bytes, block_bytes - pending_bytes_);
        std::memcpy(pending_.data() + pending_bytes_, next, taken);
        pending_bytes_ += taken;
        next += taken;
        bytes -= taken;
        if (pending_bytes_ < block_bytes) return;
        add_block(pending_.data());
        pending_bytes_ = 0;
    }
    for (; bytes >= block_bytes; next += block_bytes, bytes -= block_bytes) add_block(next);
    if (bytes > 0) std::memcpy(pending_.data(), next, bytes);
    pending_bytes_ = bytes;
}

uint64_t Checksum::value() const {
    uint64_t hash = prime5;
    if (total_ >= block_bytes) {
        hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
               std::rotl(lanes_[3], 18);
        for (uint64_t lane : lanes_) hash = (hash ^ round(0, lane)) * prime1 + prime4;
    }
    hash += total_;
    const std::byte* next = pending_.data();
    const std::byte* end = next + pending_bytes_;
    for (; end - next >= 8; next += 8)
        hash = std::rotl(hash ^ round(0, word_at<uint64_t>(next)), 27) * prime1 + prime4;
    for (; end - next >= 4; next += 4)
        hash = std::rotl(hash ^ word_at<uint32_t>(next) * prime1, 23) * prime2 + prime3;
    for (; next < end; ++next)
        hash = std::rotl(hash ^ word_at<uint8_t>(next) * prime5, 11) * prime1;
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
}

}  // namespace ollie::runtime
