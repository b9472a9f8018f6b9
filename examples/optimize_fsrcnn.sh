#!/bin/sh
# What `make run` shows.
set -eu
cd "$(dirname "$0")/.."
exec build/bin/ollie --help
