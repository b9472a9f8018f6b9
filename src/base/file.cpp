#include "base/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace ollie {
namespace {

namespace fs = std::filesystem;

/// The most that one call of the system takes.
constexpr size_t most_bytes = size_t{1} << 30;
constexpr mode_t any_access = 0666;  ///< Less what the process masks.

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Another one each time: .ollie-<process>-<number>.
std::string fresh_name(const fs::path& folder) {
    static std::atomic<int> number{0};
    return (folder / fmt::format(".ollie-{}-{}", getpid(), number++)).string();
}

bool is_allowed(const fs::path& path, int what) {
    return faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0;
}

std::string link_of(int file) { return fmt::format("/proc/self/fd/{}", file); }

/// Calls `attempt` with fresh names until one is not taken.
template <typename Attempt>
bool try_names(const fs::path& folder, std::string& name, const Attempt& attempt) {
    constexpr int tries = 1000;
    for (int i = 0; i < tries; ++i) {
        name = fresh_name(folder);
        if (attempt(name.c_str())) return true;
        if (errno != EEXIST) break;
    }
    name.clear();
    return false;
}

}  // namespace

void check_is_file(const fs::path& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0)
        throw_user_error("{}: cannot be opened: {}", path.string(), std::strerror(errno));
    if (S_ISDIR(status.st_mode)) throw_user_error("{}: a folder, not a file", path.string());
    if (!S_ISREG(status.st_mode)) throw_user_error("{}: not a regular file", path.string());
}

PartialFile::PartialFile(const fs::path& target) : target_(target) {
    examine_target();
    open_file();
}

PartialFile::~PartialFile() {
    if (file_ >= 0) close(file_);
    if (!name_.empty()) unlink(name_.c_str());
}

void PartialFile::examine_target() {
    std::error_code error;
    path_ = fs::weakly_canonical(target_, error);
    if (error) fail(error.message());
    // Nameless files would find this out only when they get a name.
    if (!is_allowed(folder_of(path_), W_OK | X_OK)) fail();
    struct stat status {};
    if (stat(path_.c_str(), &status) != 0) {
        if (errno != ENOENT || !path_.has_filename()) fail();
        return;
    }
    if (S_ISDIR(status.st_mode)) fail(std::strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) fail("not a regular file");
    if (!is_allowed(path_, W_OK)) fail();
    permissions_ = static_cast<int>(status.st_mode & 0777);
}

void PartialFile::open_file() {
    fs::path folder = folder_of(path_);
    if (is_allowed("/proc/self/fd", X_OK))
        file_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, any_access);
    if (file_ >= 0) return;
    try_names(folder, name_, [&](const char* name) {
        file_ = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, any_access);
        return file_ >= 0;
    });
    if (file_ < 0) fail();
}

void PartialFile::write(const void* data, size_t bytes) {
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

void PartialFile::give_name() {
    std::string link = link_of(file_);
    auto attempt = [&](const char* name) {
        return linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    };
    if (!try_names(folder_of(path_), name_, attempt)) fail();
}

void PartialFile::make_visible() {
    std::string link = link_of(file_);
    // Straight to the target where there is none: then no moment has two names.
    if (name_.empty() &&
        linkat(AT_FDCWD, link.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0)
        return;
    if (name_.empty()) give_name();
    if (std::rename(name_.c_str(), path_.c_str()) != 0) fail();
    name_.clear();
}

void PartialFile::commit() {
    if (permissions_ >= 0 && fchmod(file_, static_cast<mode_t>(permissions_)) != 0) fail();
    if (fsync(file_) != 0) fail();
    make_visible();
    int closed = close(file_);
    file_ = -1;
    if (closed != 0) fail();
    // Some file systems cannot sync folders; the file itself is safe.
    int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

void PartialFile::fail() const { fail(std::strerror(errno)); }

void PartialFile::fail(const std::string& reason) const {
    throw_user_error("{}: cannot be written: {}", target_.string(), reason);
}

}  // namespace ollie
