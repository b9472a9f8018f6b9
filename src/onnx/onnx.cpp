#include "onnx/onnx.h"

#include <onnx.pb.h>

#include "onnx/import.h"
#include "onnx/load.h"

namespace ollie::onnx {

graph::Graph read(const std::filesystem::path& path, const ImportOptions& options) {
    ::onnx::ModelProto model;
    load(path, model);
    return import_model(model, path.parent_path(), options);
}

}  // namespace ollie::onnx
