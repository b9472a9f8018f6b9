#include "optimize/bench.h"

#include <algorithm>

#include "api/ollie.h"
#include "base/parallel.h"
#include "express/express.h"
#include "onnx/onnx.h"
#include "optimize/bench_case.h"
#include "optimize/pipeline.h"
#include "optimize/session_subject.h"
#include "optimize/temporary_folder.h"
#include "runtime/session.h"

namespace ollie::api {
namespace {

/// The two programs of our own, as files that children load.
struct Programs {
    std::filesystem::path ollie;
    std::filesystem::path unoptimized;
    program::Program boundary;
};

Programs make_programs(const BenchRequest& request, const expr::Expr& whole, const Options& options,
                       const Progress& progress, const std::filesystem::path& folder) {
    Programs programs{request.compiled, folder / "unoptimized.ollie", {}};
    program::Program unoptimized;
    if (request.compiled.empty()) {
        optimize::Outcome outcome = optimize::optimize(request.model, options, progress);
        programs.ollie = folder / "optimized.ollie";
        runtime::save(outcome.program, programs.ollie);
        unoptimized = std::move(outcome.unoptimized);
    } else {
        optimize::check_same_boundary(whole, runtime::load(request.compiled));
        if (progress) progress("compiling the unoptimized program", 0);
        unoptimized = optimize::compile_unoptimized(request.model, options);
    }
    runtime::save(unoptimized, programs.unoptimized);
    programs.boundary = std::move(unoptimized);
    return programs;
}

std::vector<std::unique_ptr<optimize::Contestant>> contestants_of(const BenchRequest& request,
                                                                  const Programs& programs) {
    optimize::Command child = optimize::own_command({"bench-child"});
    if (!request.child.empty()) child.arguments = request.child;
    std::vector<std::unique_ptr<optimize::Contestant>> contestants;
    auto add = [&](const char* name, const std::filesystem::path& file) {
        contestants.push_back(std::make_unique<optimize::ChildContestant>(
            name, child, std::filesystem::absolute(file).string()));
    };
    add("ollie", programs.ollie);
    add("unoptimized", programs.unoptimized);
    for (const std::string& runtime : request.against)
        contestants.push_back(optimize::rival(runtime));
    return contestants;
}

/// The error that optimize allows.
bool is_wrong(const optimize::BenchReport& report, const Options& options) {
    const optimize::BenchRow* ours = report.row("ollie");
    const optimize::BenchRow* plain = report.row("unoptimized");
    if (!ours->max_error_of_scale) return false;
    double allowed = options.accuracy == Accuracy::Fast ? 1e-3 : 1e-4;
    if (plain->max_error_of_scale) allowed = std::max(allowed, 4 * *plain->max_error_of_scale);
    return !(*ours->max_error_of_scale <= allowed);
}

}  // namespace

Report bench(const BenchRequest& request, const Options& options, const Progress& progress) {
    for (const std::string& runtime : request.against) (void)optimize::rival_command(runtime);
    optimize::BenchSettings settings;
    settings.processors =
        optimize::processors_for(options.threads > 0 ? options.threads : threads());
    if (progress)
        settings.progress = [&](std::string_view what) { progress(std::string(what), 0); };
    optimize::TemporaryFolder folder;
    expr::Expr whole = express::express(onnx::read(request.model, {options.shapes}));
    Programs programs = make_programs(request, whole, options, progress, folder.path());
    if (progress) progress("evaluating in float64", 0);
    optimize::BenchCase problem = optimize::bench_case(request.model, whole, programs.boundary,
                                                       options.seed, options.cache_folder);
    programs.boundary = {};
    auto contestants = contestants_of(request, programs);
    optimize::BenchReport report = optimize::bench(problem, contestants, settings);
    if (progress) progress("done", 1);
    const optimize::BenchRow* ours = report.row("ollie");
    if (!ours->has_times()) throw_user_error("the compiled program does not run: {}", ours->error);
    Report result;
    result.text = optimize::to_table(report);
    result.json =
        optimize::to_json(report, request.details ? optimize::Details::Yes : optimize::Details::No);
    result.mismatch = is_wrong(report, options);
    return result;
}

std::string version() { return OLLIE_VERSION; }

void bench_child() {
    optimize::SessionSubject subject(version(), [](const optimize::LoadRequest& request) {
        return std::make_shared<const program::Program>(runtime::load(request.model));
    });
    optimize::serve_standard_streams(subject);
}

}  // namespace ollie::api
