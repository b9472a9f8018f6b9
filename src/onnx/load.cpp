#include "onnx/load.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx.pb.h>

#include "base/error.h"
#include "base/file.h"

namespace ollie::onnx {
namespace {

namespace fs = std::filesystem;

void check_size(const fs::path& path, std::ifstream& file) {
    int64_t size = file.seekg(0, std::ios::end).tellg();
    file.seekg(0);
    if (size == 0) throw_user_error("{}: an empty file", path.string());
    if (size > std::numeric_limits<int32_t>::max())
        throw_user_error(
            "{}: {} bytes; a model file holds 2 GiB at most, larger models keep their tensors in "
            "external data",
            path.string(), size);
}

}  // namespace

void load(const fs::path& path, ::onnx::ModelProto& model) {
    check_is_file(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) throw_user_error("{}: cannot be opened: {}", path.string(), std::strerror(errno));
    check_size(path, file);
    google::protobuf::io::IstreamInputStream stream(&file);
    if (!model.ParseFromZeroCopyStream(&stream))
        throw_user_error("{}: not an ONNX file, or truncated", path.string());
    if (!model.has_graph())
        throw_user_error("{}: not an ONNX file, or truncated: it has no graph", path.string());
}

}  // namespace ollie::onnx
