#include "runtime/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace ollie::runtime {
namespace {

/// The most that one call of the system takes.
constexpr size_t most_bytes = size_t{1} << 30;

std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

PartialFile::PartialFile(const std::filesystem::path& target) : target_(target) {
    path_ = (folder_of(target) / ("." + target.filename().string() + ".XXXXXX")).string();
    file_ = mkostemp(path_.data(), O_CLOEXEC);
    if (file_ < 0) fail();
}

PartialFile::~PartialFile() {
    if (file_ >= 0) close(file_);
    if (!path_.empty()) unlink(path_.c_str());
}

void PartialFile::write(const void* data, size_t bytes) {
    checksum_.add(data, bytes);
    const auto* next = static_cast<const std::byte*>(data);
    while (bytes > 0) {
        ssize_t written = ::write(file_, next, std::min(bytes, most_bytes));
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = ENOSPC;
        if (written <= 0) fail();
        next += written;
        bytes -= static_cast<size_t>(written);
    }
}

void PartialFile::commit() {
    if (fchmod(file_, 0644) != 0 || fsync(file_) != 0) fail();
    int closed = close(file_);
    file_ = -1;
    if (closed != 0 || std::rename(path_.c_str(), target_.c_str()) != 0) fail();
    path_.clear();
    // Some file systems cannot sync folders; the file itself is safe.
    int folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

void PartialFile::fail() const {
    throw_user_error("{}: cannot be written: {}", target_.string(), std::strerror(errno));
}

FileReader::FileReader(const std::filesystem::path& path) : path_(path) {
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    struct stat status {};
    if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) {
        size_ = static_cast<uint64_t>(status.st_size);
        return;
    }
    close(file_);
    fail("is no file");
}

FileReader::~FileReader() { close(file_); }

void FileReader::read(void* data, size_t bytes) {
    auto* next = static_cast<std::byte*>(data);
    for (size_t missing = bytes; missing > 0;) {
        ssize_t got = ::read(file_, next, std::min(missing, most_bytes));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
        if (got == 0) fail("is cut short");
        next += got;
        missing -= static_cast<size_t>(got);
    }
    checksum_.add(data, bytes);
    position_ += bytes;
}

uint64_t FileReader::read_number() {
    uint64_t number = 0;
    read(&number, sizeof(number));
    return number;
}

void FileReader::fail(const std::string& reason) const {
    throw_user_error("{}: {}", path_.string(), reason);
}

}  // namespace ollie::runtime
