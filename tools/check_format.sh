#!/bin/sh
# Checks the format of all C++ files; with --fix, mends it.
set -eu
cd "$(dirname "$0")/.."

case "${1:-}" in
    "") mode="--dry-run -Werror" ;;
    --fix) mode=-i ;;
    *) echo "usage: tools/check_format.sh [--fix]" >&2; exit 2 ;;
esac

for folder in src tests bench; do
    if [ -d "$folder" ]; then
        find "$folder" \( -name '*.h' -o -name '*.cpp' \) -print0
    fi
done | xargs -0 -r -n 50 -P "$(nproc)" clang-format --style=file $mode
