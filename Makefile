# The few commands one needs. Everything they do can also be done by CMake and the scripts of tools/.

MAKEFLAGS += --no-print-directory
jobs := $(shell nproc)
build := build

.PHONY: setup build run test test-slow format docs bench sanitize sanitize-thread clean

build: setup
	cmake -S . -B $(build) -DCMAKE_BUILD_TYPE=Release
	cmake --build $(build) -j$(jobs)

setup:
	tools/setup.sh

# Optimizes a small model and shows what became of it.
run: setup
	cmake -S . -B $(build) -DCMAKE_BUILD_TYPE=Release
	cmake --build $(build) -j$(jobs) --target ollie_cli
	examples/optimize_fsrcnn.sh

# All tests and the checks of format, layers, size and generated pages.
test: build
	ctest --test-dir $(build) -j$(jobs) --output-on-failure --no-label-summary -LE '\+slow'

test-slow: build
	ctest --test-dir $(build) -j$(jobs) --output-on-failure --no-label-summary -L '\+slow'

format:
	tools/check_format.sh --fix

# Writes the pages of docs/ that are made from the program.
docs: build
	tools/generate_docs.sh --write $(build)/bin/ollie

bench: build
	cmake --build $(build) -j$(jobs) --target benchmarks

# The pure tests under the address and undefined behaviour sanitizers.
sanitize: setup
	cmake -S . -B build-asan -DCMAKE_BUILD_TYPE=Release -DOLLIE_SANITIZE=address,undefined
	cmake --build build-asan -j$(jobs) --target pure_tests
	ctest --test-dir build-asan -j$(jobs) --output-on-failure --no-label-summary -L '\+pure' -LE '\+slow'

# The tests of what runs in threads under the thread sanitizer.
sanitize-thread: setup
	cmake -S . -B build-tsan -DCMAKE_BUILD_TYPE=Release -DOLLIE_SANITIZE=thread
	cmake --build build-tsan -j$(jobs) --target threaded_tests
	ctest --test-dir build-tsan -j$(jobs) --output-on-failure --no-label-summary -L '\+threaded'

clean:
	rm -rf build build-asan build-tsan
