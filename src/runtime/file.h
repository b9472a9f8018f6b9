#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/checksum.h"

/// Files read with suspicion.
namespace ollie::runtime {

/// Reads a file from its beginning. Errors of all members: UserError with the path and the reason.
class FileReader {
public:
    explicit FileReader(const std::filesystem::path&);
    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    /// Bytes of the file.
    uint64_t size() const { return size_; }
    uint64_t left() const { return size_ - position_; }
    void read(void* data, size_t bytes);
    uint64_t read_number();
    /// Of all that was read so far.
    uint64_t checksum() const { return checksum_.value(); }
    [[noreturn]] void fail(const std::string& reason) const;

private:
    std::filesystem::path path_;
    int file_ = -1;
    uint64_t size_ = 0;
    uint64_t position_ = 0;
    Checksum checksum_;
};

}  // namespace ollie::runtime
