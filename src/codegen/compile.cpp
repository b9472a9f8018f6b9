#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>

#include "base/hash.h"
#include "codegen/codegen.h"
#include "codegen/kernel.h"
#include "codegen/object.h"
#include "codegen/schedule.h"
#include "codegen/translate.h"
#include "expr/print.h"
#include "expr/visit.h"

namespace ollie::codegen {
namespace {

using namespace expr;
namespace fs = std::filesystem;

constexpr const char* wide_name = "x86-64-avx512";
constexpr const char* narrow_name = "x86-64-avx2-fma";
/// Part of the cache key: raise it where generated code changes for the same problem.
constexpr int generation = 6;

Halide::Target target_of(const std::string& name) {
    Halide::Target target(Halide::Target::Linux, Halide::Target::X86, 64);
    for (auto feature : {Halide::Target::SSE41, Halide::Target::AVX, Halide::Target::AVX2,
                         Halide::Target::FMA, Halide::Target::F16C, Halide::Target::NoAsserts,
                         Halide::Target::NoBoundsQuery, Halide::Target::NoRuntime})
        target.set_feature(feature);
    if (name == wide_name) {
        target.set_feature(Halide::Target::AVX512);
        target.set_feature(Halide::Target::AVX512_Skylake);
    } else {
        CHECK(name == narrow_name, "target {}", name);
    }
    return target;
}

/// Errors are exceptions; warnings say nothing that is not checked, and the library does not print.
class QuietReporter : public Halide::CompileTimeErrorReporter {
public:
    void warning(const char*) override {}
    [[noreturn]] void error(const char* message) override { throw Halide::CompileError(message); }
};

void silence_warnings() {
    static QuietReporter reporter;
    static std::once_flag once;
    std::call_once(once, [] { Halide::set_custom_compile_time_error_reporter(&reporter); });
}

/// Function and result with the bounds that make all addresses constants.
struct Lowered {
    Kernel kernel;
    Translation translation;
    std::vector<Halide::Argument> arguments;
};

Lowered lower(const KernelProblem& problem, const Halide::Target& target) {
    CHECK(problem.result_layouts.size() == 1, "a kernel has one result");
    Lowered lowered;
    lowered.kernel = prepare(problem.group, problem.argument_layouts, problem.result_layouts[0]);
    lowered.translation = translate(lowered.kernel);
    apply(problem.schedule, lowered.kernel, lowered.translation, vector_unit(target));
    Halide::OutputImageParam out = lowered.translation.result.function.output_buffer();
    int rank = static_cast<int>(lowered.kernel.loops.size());
    for (int i = 0; i < rank; ++i) {
        const Loop& loop = lowered.kernel.loops[static_cast<size_t>(rank - 1 - i)];
        out.dim(i).set_bounds(0, static_cast<int>(loop.extent));
        out.dim(i).set_stride(static_cast<int>(loop.stride));
    }
    for (Halide::ImageParam& argument : lowered.translation.arguments)
        lowered.arguments.push_back(argument);
    return lowered;
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Says what the code depends on.
std::string problem_text(const KernelProblem& problem, const std::string& target) {
    std::string text = print(problem.group) + target + problem.schedule.text() +
                       fmt::format(" generation {} halide {}.{}", generation, HALIDE_VERSION_MAJOR,
                                   HALIDE_VERSION_MINOR);
    for (const Layout& layout : problem.argument_layouts) text += "|" + layout.text();
    for (const Layout& layout : problem.result_layouts) text += ">" + layout.text();
    return text;
}

std::string compile_with_halide(const KernelProblem& problem, const std::string& implementation,
                                const std::string& target_text) {
    silence_warnings();
    Halide::Target target = target_of(target_text);
    TemporaryFolder folder;
    fs::path file = folder.path() / "kernel.o";
    try {
        Lowered lowered = lower(problem, target);
        Halide::Pipeline(lowered.translation.result.function)
            .compile_to_module(lowered.arguments, implementation, target,
                               Halide::LinkageType::External)
            .compile({{Halide::OutputFileType::object, file.string()}});
    } catch (const Halide::Error& error) {
        CHECK(false, "generated kernel {}: {}", problem.symbol, error.what());
    }
    return read_file(file);
}

int64_t result_elements(const Expr& group) { return element_count(group.outputs[0]->shape()); }

void keep(const fs::path& path, const std::string& code) {
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    fs::path partial = path;
    partial += "." + std::to_string(std::random_device()());
    std::ofstream file(partial, std::ios::binary);
    file.write(code.data(), static_cast<std::streamsize>(code.size()));
    file.close();
    if (file)
        fs::rename(partial, path, ignored);
    else
        fs::remove(partial, ignored);
}

OrRefusal<bool> can_index(const Tensor* tensor) {
    if (element_count(tensor->shape()) > INT32_MAX / 2)
        return refuse("{} has more elements than kernels can index", tensor->name);
    return true;
}

}  // namespace

std::string Schedule::text() const {
    return fmt::format("vector {} x{} rows {} x{} parallel {}{}", vector_axis, unroll, rows_axis,
                       rows, parallel, root_intermediates ? " root" : "");
}

std::vector<const Tensor*> arguments_of(const Expr& group) {
    std::vector<const Tensor*> arguments;
    for (const Tensor* tensor : tensors_of(group))
        if (!tensor->is_definition()) arguments.push_back(tensor);
    return arguments;
}

std::vector<Schedule> schedules(const KernelProblem& problem, int threads) {
    Kernel kernel = prepare(problem.group, problem.argument_layouts, problem.result_layouts.at(0));
    return schedules_of(kernel, threads, vector_unit(target_of(target_name())));
}

OrRefusal<bool> can_generate(const Expr& group) {
    if (group.outputs.size() != 1) return refuse("a kernel has one result");
    for (const Tensor* tensor : tensors_of(group))
        if (auto possible = can_index(tensor); !possible) return possible;
    return true;
}

std::vector<std::byte> compile(const KernelProblem& problem, const std::string& target,
                               const std::string& cache) {
    std::string target_text = target.empty() ? target_name() : target;
    std::string key = Hasher().add(problem_text(problem, target_text)).key().hex();
    KernelObject object;
    object.symbol = problem.symbol;
    object.implementation = "ollie_" + key;
    object.arguments = static_cast<int>(arguments_of(problem.group).size());
    if (result_elements(problem.group) > 0) {
        fs::path cached = cache.empty() ? fs::path() : fs::path(cache) / (key + ".o");
        if (!cache.empty()) object.code = read_file(cached);
        if (object.code.empty()) {
            object.code = compile_with_halide(problem, object.implementation, target_text);
            if (!cache.empty()) keep(cached, object.code);
        }
    }
    return to_bytes(object);
}

std::string source(const KernelProblem& problem) {
    TemporaryFolder folder;
    fs::path file = folder.path() / "kernel.stmt";
    Halide::Target target = target_of(target_name());
    try {
        Lowered lowered = lower(problem, target);
        lowered.translation.result.function.compile_to_lowered_stmt(
            file.string(), lowered.arguments, Halide::Text, target);
    } catch (const Halide::Error& error) {
        CHECK(false, "generated kernel {}: {}", problem.symbol, error.what());
    }
    return read_file(file);
}

std::string version() {
    return fmt::format("Halide {}.{}.{}, generation {}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR,
                       HALIDE_VERSION_PATCH, generation);
}

std::string target_name() {
    __builtin_cpu_init();
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512cd");
    return wide ? wide_name : narrow_name;
}

}  // namespace ollie::codegen
