#include <array>
#include <charconv>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "tensor/host_array.h"

namespace ollie {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic{"\x93NUMPY", 6};

struct Row {
    ElementType type;
    std::string_view code;
};

constexpr std::array<Row, 11> codes{{{ElementType::F32, "f4"},
                                     {ElementType::F64, "f8"},
                                     {ElementType::I8, "i1"},
                                     {ElementType::I16, "i2"},
                                     {ElementType::I32, "i4"},
                                     {ElementType::I64, "i8"},
                                     {ElementType::U8, "u1"},
                                     {ElementType::U16, "u2"},
                                     {ElementType::U32, "u4"},
                                     {ElementType::U64, "u8"},
                                     {ElementType::Bool, "b1"}}};

std::string descriptor(ElementType type) {
    return (size_of(type) == 1 ? "|" : "<") + std::string(codes[static_cast<size_t>(type)].code);
}

/// Reads the dictionary of the header: three keys, in any order.
class Header {
public:
    Header(const fs::path& path, std::string text) : path_(path), text_(std::move(text)) {}

    ElementType type() const {
        std::string_view rest = value_of("descr");
        size_t end = rest.empty() ? std::string_view::npos : rest.find(rest[0], 1);
        if (end == std::string_view::npos || end < 3) fail("descr is not a simple type");
        std::string_view code = rest.substr(1, end - 1);
        for (const Row& row : codes)
            if (code.substr(1) == row.code && (code[0] != '>' || size_of(row.type) == 1))
                return row.type;
        fail(fmt::format("element type '{}', expected little-endian f4, f8, i1-i8, u1-u8 or b1",
                         code));
    }

    Shape shape() const {
        if (!value_of("fortran_order").starts_with("False"))
            fail("Fortran order; save numpy.ascontiguousarray of it");
        std::string_view rest = value_of("shape");
        size_t end = rest.find(')');
        if (!rest.starts_with("(") || end == std::string_view::npos) fail("shape is not a tuple");
        Shape shape;
        for (rest = trimmed(rest.substr(1, end - 1)); !rest.empty(); rest = trimmed(rest))
            shape.push_back(extent(rest));
        return shape;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw_user_error("{}: {}", path_.string(), what);
    }

private:
    static std::string_view trimmed(std::string_view text) {
        size_t begin = text.find_first_not_of(" \n");
        return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
    }

    /// Takes "12" or "12," off the front.
    int64_t extent(std::string_view& rest) const {
        int64_t value = 0;
        auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc() || value < 0) fail("shape is not a tuple of extents");
        rest = trimmed(rest.substr(static_cast<size_t>(end - rest.data())));
        if (rest.starts_with(","))
            rest.remove_prefix(1);
        else if (!rest.empty())
            fail("shape is not a tuple of extents");
        return value;
    }

    std::string_view value_of(std::string_view key) const {
        for (char quote : {'\'', '"'}) {
            size_t place = text_.find(fmt::format("{}{}{}", quote, key, quote));
            if (place == std::string::npos) continue;
            std::string_view rest = trimmed(std::string_view(text_).substr(place + key.size() + 2));
            if (rest.starts_with(":")) return trimmed(rest.substr(1));
        }
        fail(fmt::format("the header has no '{}'", key));
    }

    const fs::path& path_;
    std::string text_;
};

/// Reads exactly that many bytes.
void read_bytes(std::ifstream& file, const fs::path& path, void* to, int64_t bytes) {
    file.read(static_cast<char*>(to), bytes);
    if (file.gcount() != bytes) throw_user_error("{}: truncated", path.string());
}

Header read_header(std::ifstream& file, const fs::path& path) {
    std::array<char, 8> start{};
    file.read(start.data(), start.size());
    if (file.gcount() < 8 || std::string_view(start.data(), 6) != magic)
        throw_user_error("{}: not a .npy file", path.string());
    int version = start[6];
    if (version < 1 || version > 3)
        throw_user_error("{}: .npy format {}, expected 1 to 3", path.string(), version);
    std::array<unsigned char, 4> size{};
    read_bytes(file, path, size.data(), version == 1 ? 2 : 4);
    int64_t length = size[0] + (size[1] << 8) + (int64_t{size[2]} << 16) + (int64_t{size[3]} << 24);
    if (length > (1 << 20)) throw_user_error("{}: a header of {} bytes", path.string(), length);
    std::string text(static_cast<size_t>(length), ' ');
    read_bytes(file, path, text.data(), length);
    return Header(path, std::move(text));
}

/// Bytes of the elements; the file must have exactly these after the header.
int64_t expected_bytes(const Header& header, ElementType type, const Shape& shape) {
    int64_t bytes = size_of(type);
    for (int64_t extent : shape)
        if (__builtin_mul_overflow(bytes, extent, &bytes))
            header.fail(fmt::format("shape {} is too large", to_text(shape)));
    return bytes;
}

std::string header_of(const HostArray& array) {
    std::string extents = fmt::format("{}", fmt::join(array.shape(), ", "));
    if (array.shape().size() == 1) extents += ",";
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descriptor(array.type()), extents);
    // The elements begin at a multiple of 64 bytes.
    size_t before = magic.size() + 4;
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string result(magic);
    result += {1, 0, static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
    return result + text;
}

}  // namespace

HostArray read_npy(const fs::path& path) {
    check_is_file(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) throw_user_error("{}: cannot be opened: {}", path.string(), std::strerror(errno));
    Header header = read_header(file, path);
    ElementType type = header.type();
    Shape shape = header.shape();
    int64_t expected = expected_bytes(header, type, shape);
    auto begin = file.tellg();
    int64_t found = file.seekg(0, std::ios::end).tellg() - begin;
    file.seekg(begin);
    if (found != expected)
        header.fail(fmt::format("{} bytes of elements, expected {} for {}[{}]", found, expected,
                                name_of(type), to_text(shape)));
    HostArray array(type, std::move(shape));
    read_bytes(file, path, array.data(), expected);
    if (type == ElementType::Bool)
        for (uint8_t& element : array.as<uint8_t>()) element = element != 0;
    return array;
}

void write_npy(const fs::path& path, const HostArray& array) {
    PartialFile file(path);
    std::string header = header_of(array);
    file.write(header.data(), header.size());
    file.write(array.data(), static_cast<size_t>(array.bytes()));
    file.commit();
}

}  // namespace ollie
