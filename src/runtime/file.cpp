#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "runtime/header.h"
#include "runtime/session.h"

namespace ollie::runtime {
namespace {

namespace fs = std::filesystem;

/// The file: magic, length of the header, header (JSON), constants one after another in row-major
/// order, code, checksum of all that (16 bytes).
constexpr char magic[] = "OLLIE\x01\r\n";
constexpr size_t magic_bytes = 8;
constexpr size_t checksum_bytes = 16;

std::string checksum(std::string_view content) {
    Key key = Hasher().add(content).key();
    std::string bytes(checksum_bytes, '\0');
    std::memcpy(bytes.data(), &key.high, 8);
    std::memcpy(bytes.data() + 8, &key.low, 8);
    return bytes;
}

std::string_view view(const void* data, int64_t bytes) {
    return {static_cast<const char*>(data), static_cast<size_t>(bytes)};
}

std::string content_of(const program::Program& program) {
    std::string header = header_text(program);
    std::string content(magic, magic_bytes);
    uint64_t length = header.size();
    content.append(reinterpret_cast<const char*>(&length), 8);
    content += header;
    for (const program::Buffer& buffer : program.buffers)
        if (buffer.values) content += view(buffer.values->data(), buffer.values->bytes());
    content += view(program.code.data(), static_cast<int64_t>(program.code.size()));
    return content + checksum(content);
}

/// A file that vanishes unless it is committed.
class PartialFile {
public:
    explicit PartialFile(const fs::path& target) : target_(target) {
        path_ = (target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string();
        file_ = mkstemp(path_.data());
        if (file_ < 0) fail();
    }
    ~PartialFile() {
        if (file_ >= 0) close(file_);
        if (!path_.empty()) unlink(path_.c_str());
    }
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    void write(std::string_view content) {
        while (!content.empty()) {
            ssize_t written = ::write(file_, content.data(), content.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) fail();
            content.remove_prefix(static_cast<size_t>(written));
        }
    }

    void commit() {
        if (::fchmod(file_, 0644) != 0 || fsync(file_) != 0) fail();
        int closed = close(file_);
        file_ = -1;
        if (closed != 0 || rename(path_.c_str(), target_.c_str()) != 0) fail();
        path_.clear();
    }

private:
    [[noreturn]] void fail() {
        throw_user_error("cannot write {}: {}", target_.string(), std::strerror(errno));
    }

    fs::path target_;
    std::string path_;
    int file_ = -1;
};

/// Takes pieces off the front of what was read.
class Reader {
public:
    Reader(std::string_view content, const fs::path& path) : rest_(content), path_(path) {}
    std::string_view take(uint64_t bytes, const char* what) {
        if (bytes > rest_.size())
            throw_user_error("{}: damaged: {} ends beyond the file", path_.string(), what);
        std::string_view piece = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return piece;
    }
    bool is_at_end() const { return rest_.empty(); }

private:
    std::string_view rest_;
    const fs::path& path_;
};

std::string read_all(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw_user_error("cannot read {}: {}", path.string(), std::strerror(errno));
    std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (file.bad()) throw_user_error("cannot read {}: {}", path.string(), std::strerror(errno));
    return content;
}

void read_constants(program::Program& program, Reader& reader) {
    for (program::Buffer& buffer : program.buffers) {
        if (!buffer.values) continue;
        HostArray values(buffer.type, buffer.shape);
        std::string_view bytes = reader.take(static_cast<uint64_t>(values.bytes()), "a constant");
        if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
        buffer.values = std::make_shared<const HostArray>(std::move(values));
    }
}

}  // namespace

void save(const program::Program& program, const fs::path& path) {
    std::string content = content_of(program);
    PartialFile file(path);
    file.write(content);
    file.commit();
}

bool is_compiled_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    char start[magic_bytes] = {};
    file.read(start, magic_bytes);
    return file.gcount() == magic_bytes && std::memcmp(start, magic, 5) == 0;
}

program::Program load(const fs::path& path) {
    std::string content = read_all(path);
    if (content.compare(0, 5, magic, 5) != 0)
        throw_user_error("{} is not a compiled file", path.string());
    if (content.size() < magic_bytes + 8 + checksum_bytes)
        throw_user_error("{} is cut short: {} bytes", path.string(), content.size());
    if (content.compare(0, magic_bytes, magic, magic_bytes) != 0)
        throw_user_error("{} was written by another version", path.string());
    std::string_view all(content);
    std::string_view body = all.substr(0, all.size() - checksum_bytes);
    if (checksum(body) != all.substr(body.size()))
        throw_user_error("{} is damaged or cut short: its checksum does not agree", path.string());
    Reader reader(body.substr(magic_bytes), path);
    uint64_t length = 0;
    std::memcpy(&length, reader.take(8, "the length").data(), 8);
    size_t code_bytes = 0;
    program::Program program =
        program_from_header(reader.take(length, "the header"), code_bytes, path.string());
    read_constants(program, reader);
    std::string_view code = reader.take(code_bytes, "the code");
    program.code.resize(code.size());
    if (!code.empty()) std::memcpy(program.code.data(), code.data(), code.size());
    if (!reader.is_at_end()) throw_user_error("{}: damaged: too long", path.string());
    return program;
}

}  // namespace ollie::runtime
