#!/bin/sh
# The pages of docs/ that the program itself writes.
#
#   tools/generate_docs.sh --write build/bin/ollie    writes them
#   tools/generate_docs.sh --check build/bin/ollie    fails where one in the repository is stale
set -eu
mode=${1:-}
program=${2:-}
if [ "$mode" != --write ] && [ "$mode" != --check ] || [ -z "$program" ]; then
    echo "usage: tools/generate_docs.sh --write|--check PROGRAM" >&2
    exit 2
fi
case $program in /*) ;; *) program=$PWD/$program ;; esac
cd "$(dirname "$0")/.."

new=$(mktemp)
trap 'rm -f "$new"' EXIT
stale=0

# page FILE ARGUMENT...: the file is what the program prints for the arguments.
page() {
    file=docs/$1
    shift
    if [ "$mode" = --check ] && [ ! -e "$file" ]; then
        echo "$file: not in the repository, nothing to check"
        return
    fi
    "$program" "$@" >"$new"
    if [ "$mode" = --write ]; then
        cat "$new" >"$file"
    elif ! diff -u "$file" "$new"; then
        echo "$file: stale; run make docs" >&2
        stale=1
    fi
}

page rules.md rules --markdown
page operators.md ops --markdown
exit $stale
