#!/bin/sh
# What `make run` shows: a small super-resolution model is optimized, and compared with other runtimes.
set -eu
cd "$(dirname "$0")/.."
ollie=build/bin/ollie

$ollie optimize examples/fsrcnn.onnx -o build/fsrcnn.ollie
$ollie bench examples/fsrcnn.onnx build/fsrcnn.ollie --against onnxruntime,openvino
