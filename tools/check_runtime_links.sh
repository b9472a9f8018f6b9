#!/bin/sh
# The library that runs compiled files must need neither code generation nor protobuf.
#
#   tools/check_runtime_links.sh build/lib/libollie_runtime.so
set -eu
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$needed"
if echo "$needed" | grep -iE 'halide|protobuf|onnx|sqlite'; then
    echo "$1: must not need the libraries named last" >&2
    exit 1
fi
