#include "optimize/times.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "expr/canonical.h"
#include "optimize/measure.h"
#include "optimize/timing.h"

namespace ollie::optimize {
namespace {

int threads_of(const Options& options) { return options.threads > 0 ? options.threads : threads(); }

/// What takes that many times as long as the best will not become the best.
constexpr double hopeless = 2;

/// One peak as a time: seconds of one operation, of one byte, of one start.
struct Peak {
    const char* name;
    double match::Machine::*value;
    bool is_rate;
};

constexpr Peak peaks[] = {{"peak operation", &match::Machine::flops, true},
                          {"peak memory byte", &match::Machine::memory_bandwidth, true},
                          {"peak cache byte", &match::Machine::cache_bandwidth, true},
                          {"peak start", &match::Machine::call_seconds, false}};

/// The buffers that a step reads, in the canonical order of its meaning's sources.
void add_sources(Hasher& hasher, const program::Program& program, const program::Step& step) {
    expr::Problem problem = expr::problem_of(step.meaning);
    hasher.add(problem.key);
    for (const expr::Tensor* source : problem.sources) {
        int found = -1;
        for (int index : step.arguments)
            if (program.buffers[static_cast<size_t>(index)].name == source->name) found = index;
        hasher.add(static_cast<uint64_t>(static_cast<int64_t>(found)));
    }
}

void add_step(Hasher& hasher, const program::Program& program, const program::Step& step) {
    bool is_call = step.kind == program::StepKind::Call;
    hasher.add(is_call ? step.target : "kernel");
    for (const auto& [name, value] : step.parameters) hasher.add(name).add(to_text(value));
    add_sources(hasher, program, step);
    for (int index : step.results) hasher.add(static_cast<uint64_t>(index));
}

}  // namespace

std::string tuning_key(const program::Program& program) {
    Hasher hasher;
    for (const program::Buffer& buffer : program.buffers) {
        hasher.add(static_cast<uint64_t>(buffer.role)).add(name_of(buffer.type));
        hasher.add(to_text(buffer.shape)).add(buffer.layout.text());
        hasher.add(static_cast<uint64_t>(buffer.values != nullptr));
    }
    for (const program::Step& step : program.steps) add_step(hasher, program, step);
    return "program " + hasher.key().hex();
}

Times::Times(const Options& options)
    : measures_(options.measure),
      threads_(threads_of(options)),
      database_(options.tuning_file, tuning_context(threads_),
                options.measure ? TuningDatabase::Access::Update : TuningDatabase::Access::Frozen) {
}

std::optional<double> Times::find(const program::Program& program) const {
    return database_.find(tuning_key(program));
}

double Times::of(const program::Program& program, double best) {
    std::string key = tuning_key(program);
    if (auto seconds = database_.find(key)) {
        ++known_;
        return *seconds;
    }
    if (!measures_) return -1;
    ++measured_;
    double seconds = seconds_of(program, hopeless * best);
    if (seconds > 0) database_.store(key, seconds);
    return seconds;
}

match::Machine Times::machine() {
    match::Machine machine;
    machine.threads = threads_;
    machine.flops = 1e11 * threads_;
    bool known = true;
    for (const Peak& peak : peaks) {
        auto seconds = database_.find(peak.name);
        known = known && seconds;
        if (seconds) machine.*peak.value = peak.is_rate ? 1 / *seconds : *seconds;
    }
    int64_t cache = describe_machine().last_level_bytes;
    if (known && cache > 0) machine.cache_bytes = cache;
    if (known || !measures_) return machine;
    match::Machine found = measure_machine(processors_for(threads_));
    for (const Peak& peak : peaks)
        database_.store(peak.name, peak.is_rate ? 1 / (found.*peak.value) : found.*peak.value);
    // As every later run will read them.
    return this->machine();
}

}  // namespace ollie::optimize
