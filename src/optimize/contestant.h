#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "optimize/child_process.h"
#include "optimize/measure.h"
#include "tensor/host_array.h"

/// What a comparison measures, whoever made it.
///
/// A contestant lives in a process of its own, so that no runtime's threads, allocator or caches
/// meet another's. Parent and child speak in lines of JSON:
///
///   {"do": "load", "model", "threads", "cpus": [..], "inputs": [{"name", "file"}..]}
///       -> {"ok": true, "version", "settings"}
///   {"do": "block", "seconds", "warm_seconds"} -> {"ok": true, "nanoseconds": [..]}  each run's
///   {"do": "run", "into": FOLDER}              -> {"ok": true, "outputs": [{"name", "file"}..]}
///   {"do": "quit"}
///   any                                        -> {"ok": false, "error"} or {"ok": false,
///   "absent"}
///
/// Arrays travel as .npy files. `subject.h` is the child's side of this in C++,
/// `tools/rivals/run_rival.py` that of other runtimes.
namespace ollie::optimize {

struct NamedFile {
    std::string name;
    std::filesystem::path file;
};

/// What a contestant must know before it can run.
struct LoadRequest {
    std::string model;              ///< Path.
    std::vector<int> processors;    ///< One for each thread.
    std::vector<NamedFile> inputs;  ///< .npy files, by the model's names of its inputs.

    int threads() const { return static_cast<int>(processors.size()); }
};

struct Loaded {
    std::string version;
    std::string settings;  ///< What matters to the time, for people.
};

class Contestant {
public:
    virtual ~Contestant() = default;

    virtual const std::string& name() const = 0;
    /// Loads the model and puts the inputs in place; the model in the request is the original one
    /// and a contestant may have its own in its stead. Refusal: not installed on this machine.
    /// Errors here and below: UserError.
    virtual OrRefusal<Loaded> prepare(const LoadRequest&) = 0;
    /// Seconds of each run of one block, without its warm-up.
    virtual std::vector<double> run_block(const BlockSettings&) = 0;
    /// Of one run, in the model's order.
    virtual std::vector<HostArray> outputs() = 0;

    /// Between blocks it must not take a processor from another.
    virtual void suspend() {}
    virtual void resume() {}
};

/// A contestant in a child process. The command is started by `prepare`, so that nothing of it is
/// there while those before it are measured.
class ChildContestant : public Contestant {
public:
    struct Limits {
        double load_seconds = 600;
        double run_seconds = 300;  ///< Of one run, and of a block beyond what was asked for.
    };

    /// `model`: what it loads; empty: the one in the request.
    ChildContestant(std::string name, Command command, std::string model, Limits limits);
    ChildContestant(std::string name, Command command, std::string model = {});
    ~ChildContestant() override;

    const std::string& name() const override { return name_; }
    OrRefusal<Loaded> prepare(const LoadRequest&) override;
    std::vector<double> run_block(const BlockSettings&) override;
    std::vector<HostArray> outputs() override;
    void suspend() override;
    void resume() override;

private:
    std::string name_;
    Command command_;
    std::string model_;
    Limits limits_;
    std::unique_ptr<ChildProcess> child_;
};

/// The command that runs another runtime ("onnxruntime", "openvino"): an interpreter and the
/// project's script. Both are looked for in the folders above the running program; the environment
/// variables OLLIE_RIVALS_PYTHON and OLLIE_RIVALS_SCRIPT take precedence. Refusal: not found.
OrRefusal<Command> rival_command(const std::string& runtime);

/// That runtime as a contestant; where it cannot be run, `prepare` refuses with the reason.
std::unique_ptr<Contestant> rival(const std::string& runtime);

/// The names that rival_command knows.
const std::vector<std::string>& known_rivals();

/// The running program with other arguments.
Command own_command(std::vector<std::string> arguments);

}  // namespace ollie::optimize
