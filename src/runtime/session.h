#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "tensor/host_array.h"

/// Runs programs. Needs neither Halide nor protobuf.
namespace ollie::runtime {

/// A program prepared to run: code loaded from memory, constants packed, one arena.
/// `run` allocates nothing and is not reentrant; use one session per concurrent caller.
class Session {
public:
    /// Errors: UserError where the program's code is for another machine.
    explicit Session(std::shared_ptr<const program::Program>);
    ~Session();
    Session(Session&&) noexcept;

    const program::Program& program() const;
    /// Pointers to input and output tensors in the program's order, stored as their buffers say (of
    /// a whole program: row-major); no alignment is required.
    void run(std::span<const void* const> inputs, std::span<void* const> outputs);
    std::vector<HostArray> run(std::span<const HostArray> inputs);
    /// Seconds of each step of one run.
    std::vector<double> profile(std::span<const HostArray> inputs);
    /// The library's implementation name of each step, empty for kernels.
    std::vector<std::string> implementations() const;
    int64_t arena_bytes() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Any: to be looked at, not to be run.
enum class MadeFor { ThisDevice, AnyDevice };

/// The compiled file: header (JSON), constants, code, trails, device key, checksum. Written to a
/// temporary name, synced and renamed: a reader never sees a part of it.
/// Errors: UserError with the path (not a compiled file, checksum, version, disk, made for another
/// device: what was measured there says nothing here, and its code may not run).
void save(const program::Program&, const std::filesystem::path&);
program::Program load(const std::filesystem::path&, MadeFor = MadeFor::ThisDevice);
/// True if the file begins like a compiled file.
bool is_compiled_file(const std::filesystem::path&);

/// What compiled code depends on: processor features, library versions.
std::string device_key();

}  // namespace ollie::runtime
