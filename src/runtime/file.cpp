#include "runtime/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

namespace ollie::runtime {
namespace {

/// The most that one call of the system takes.
constexpr size_t most_bytes = size_t{1} << 30;

}  // namespace

FileReader::FileReader(const std::filesystem::path& path) : path_(path) {
    check_is_file(path);
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
    struct stat status {};
    if (fstat(file_, &status) == 0) size_ = static_cast<uint64_t>(status.st_size);
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
