#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "runtime/file.h"
#include "runtime/header.h"
#include "runtime/session.h"

/// The file, numbers little-endian and of 64 bits:
///
///   magic, with the version of the format
///   bytes of the file, bytes of the header, checksum of all that and the header
///   header: JSON (header.h)
///   values of the constants in the order of their buffers, row-major
///   code
///   checksum of everything before it
///
/// The header is trusted, and memory allocated, only when its checksum and all sizes agree.
namespace ollie::runtime {
namespace {

constexpr size_t magic_bytes = 8;
constexpr size_t family_bytes = 5;
constexpr char magic[magic_bytes + 1] = "OLLIE\x04\r\n";
constexpr uint64_t bytes_before_header = magic_bytes + 3 * sizeof(uint64_t);

struct Start {
    char magic[magic_bytes];
    uint64_t file_bytes;
    uint64_t header_bytes;
};
static_assert(sizeof(Start) == magic_bytes + 2 * sizeof(uint64_t));

uint64_t checksum_of(const Start& start, std::string_view header) {
    Checksum checksum;
    checksum.add(&start, sizeof(start));
    checksum.add(header.data(), header.size());
    return checksum.value();
}

/// A partial file that keeps the checksum of what it holds.
class Writer {
public:
    explicit Writer(const std::filesystem::path& path) : file_(path) {}

    void write(const void* data, size_t bytes) {
        checksum_.add(data, bytes);
        file_.write(data, bytes);
    }
    void write_number(uint64_t number) { write(&number, sizeof(number)); }
    void finish() {
        write_number(checksum_.value());
        file_.commit();
    }

private:
    PartialFile file_;
    Checksum checksum_;
};

/// Bytes of constants and code; nothing where that is more than 64 bits can say.
std::optional<uint64_t> content_bytes(const program::Program& program, uint64_t code_bytes) {
    uint64_t total = code_bytes;
    for (const program::Buffer& buffer : program.buffers)
        if (buffer.role == program::Role::Constant &&
            __builtin_add_overflow(total, static_cast<uint64_t>(buffer.bytes()), &total))
            return std::nullopt;
    return total;
}

std::string read_header(FileReader& file) {
    Start start{};
    if (file.size() < family_bytes) file.fail("is not a compiled file");
    file.read(start.magic, std::min<size_t>(magic_bytes, file.size()));
    if (std::memcmp(start.magic, magic, family_bytes) != 0) file.fail("is not a compiled file");
    if (file.size() < magic_bytes) file.fail(fmt::format("is cut short: {} bytes", file.size()));
    if (std::memcmp(start.magic, magic, magic_bytes) != 0)
        file.fail(fmt::format("has version {} of the format, this library reads version {}",
                              static_cast<int>(start.magic[family_bytes]),
                              static_cast<int>(magic[family_bytes])));
    if (file.size() < bytes_before_header + sizeof(uint64_t))
        file.fail(fmt::format("is cut short: {} bytes", file.size()));
    start.file_bytes = file.read_number();
    start.header_bytes = file.read_number();
    uint64_t checksum = file.read_number();
    if (start.file_bytes != file.size())
        file.fail(fmt::format("is damaged or cut short: {} bytes instead of {}", file.size(),
                              start.file_bytes));
    if (start.header_bytes > file.left() - sizeof(uint64_t))
        file.fail("is damaged: its header ends beyond the file");
    std::string header(start.header_bytes, '\0');
    file.read(header.data(), header.size());
    if (checksum_of(start, header) != checksum)
        file.fail("is damaged: the checksum of its header does not agree");
    return header;
}

}  // namespace

void save(const program::Program& program, const std::filesystem::path& path) {
    std::string header = header_text(program, device_key());
    auto content = content_bytes(program, program.code.size());
    CHECK(content.has_value());
    Start start{};
    std::memcpy(start.magic, magic, magic_bytes);
    start.file_bytes = bytes_before_header + header.size() + *content + sizeof(uint64_t);
    start.header_bytes = header.size();
    Writer file(path);
    file.write(&start, sizeof(start));
    file.write_number(checksum_of(start, header));
    file.write(header.data(), header.size());
    for (const program::Buffer& buffer : program.buffers) {
        if (buffer.role != program::Role::Constant) continue;
        CHECK(buffer.values && buffer.values->bytes() == buffer.bytes(), "constant \"{}\"",
              buffer.name);
        file.write(buffer.values->data(), static_cast<size_t>(buffer.bytes()));
    }
    file.write(program.code.data(), program.code.size());
    file.finish();
}

program::Program load(const std::filesystem::path& path, MadeFor made_for) {
    FileReader file(path);
    auto [program, code_bytes, device] = program_from_header(read_header(file), path.string());
    if (made_for == MadeFor::ThisDevice && device != device_key())
        file.fail(fmt::format("was made for \"{}\", this is \"{}\"; optimize the model again here",
                              device, device_key()));
    auto content = content_bytes(program, code_bytes);
    if (!content || *content != file.left() - sizeof(uint64_t))
        file.fail("is damaged: its size is not that of its constants and code");
    for (program::Buffer& buffer : program.buffers) {
        if (buffer.role != program::Role::Constant) continue;
        HostArray values(buffer.type, buffer.shape);
        file.read(values.data(), static_cast<size_t>(values.bytes()));
        buffer.values = std::make_shared<const HostArray>(std::move(values));
    }
    program.code.resize(code_bytes);
    file.read(program.code.data(), code_bytes);
    uint64_t checksum = file.checksum();
    if (file.read_number() != checksum) file.fail("is damaged: its checksum does not agree");
    return std::move(program);
}

bool is_compiled_file(const std::filesystem::path& path) {
    try {
        FileReader file(path);
        char start[family_bytes];
        if (file.size() < family_bytes) return false;
        file.read(start, family_bytes);
        return std::memcmp(start, magic, family_bytes) == 0;
    } catch (const UserError&) {
        return false;
    }
}

}  // namespace ollie::runtime
