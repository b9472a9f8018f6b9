#include "onnx/external.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include <onnx.pb.h>

#include "base/error.h"

namespace ollie::onnx {
namespace {

namespace fs = std::filesystem;

struct Place {
    std::string location;
    int64_t offset = 0;
    int64_t length = -1;  ///< -1: not stated.
};

int64_t number_of(const std::string& what, const std::string& key, const std::string& text) {
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        throw_user_error("{}: external data has {} \"{}\", expected a number", what, key, text);
    return value;
}

Place place_of(const ::onnx::TensorProto& tensor, const std::string& what) {
    Place place;
    for (const auto& entry : tensor.external_data()) {
        if (entry.key() == "location") place.location = entry.value();
        if (entry.key() == "offset") place.offset = number_of(what, "offset", entry.value());
        if (entry.key() == "length") place.length = number_of(what, "length", entry.value());
    }
    return place;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
    auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return end == folder.end();
}

fs::path resolved(const std::string& location, const fs::path& folder, const std::string& what) {
    fs::path path(location);
    bool climbs = std::any_of(path.begin(), path.end(), [](auto& part) { return part == ".."; });
    if (location.empty() || path.is_absolute() || climbs)
        throw_user_error("{}: external data at \"{}\", expected a path inside the model's folder",
                         what, location);
    std::error_code error;
    fs::path base = fs::canonical(folder.empty() ? "." : folder, error);
    fs::path file = error ? fs::path() : fs::canonical(base / path, error);
    if (error) throw_user_error("{}: external data at \"{}\": {}", what, location, error.message());
    if (!is_inside(file, base))
        throw_user_error("{}: external data at \"{}\" is a link out of the model's folder", what,
                         location);
    if (!fs::is_regular_file(file, error))
        throw_user_error("{}: external data at \"{}\" is not a file", what, location);
    return file;
}

}  // namespace

HostArray read_external(const ::onnx::TensorProto& tensor, ElementType type, const Shape& shape,
                        const fs::path& folder, const std::string& what) {
    Place place = place_of(tensor, what);
    fs::path path = resolved(place.location, folder, what);
    int64_t bytes = element_count(shape) * size_of(type);
    if (place.length >= 0 && place.length != bytes)
        throw_user_error("{}: {} bytes of external data, expected {}", what, place.length, bytes);
    std::error_code error;
    auto size = static_cast<int64_t>(fs::file_size(path, error));
    if (error || place.offset > size || bytes > size - place.offset)
        throw_user_error("{}: \"{}\" ends before byte {} + {}", what, place.location, place.offset,
                         bytes);
    HostArray array(type, shape);
    std::ifstream file(path, std::ios::binary);
    file.seekg(place.offset);
    file.read(static_cast<char*>(array.data()), bytes);
    if (!file) throw_user_error("{}: \"{}\" cannot be read", what, place.location);
    return array;
}

}  // namespace ollie::onnx
