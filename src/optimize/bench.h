#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/contestant.h"
#include "optimize/measure.h"
#include "optimize/subject.h"

/// The comparison behind `ollie bench`: every contestant alone first, then all of them in blocks in
/// turn, one active at a time, and the outputs of all against the exact ones.
///
/// What a figure leaves out: reading and compiling the model, and copying inputs and outputs into
/// and out of the runtime's buffers, for all contestants alike.
namespace ollie::optimize {

struct BenchCase {
    std::string model;               ///< Path, for contestants and the report.
    std::vector<NamedArray> inputs;  ///< In the model's order.
    /// Evaluated in float64, in the model's order. Empty: no errors are reported.
    std::vector<HostArray> exact_outputs;
    /// Where the whole is too dear to evaluate: the row-major elements of each output whose values
    /// are in exact_outputs.
    std::vector<std::vector<int64_t>> sampled;
};

struct BenchSettings {
    std::vector<int> processors;  ///< One per thread; see processors_for.
    BlockSettings block;
    int alone_blocks = 3;
    int rounds = 5;
    /// Told what is being done, e.g. "onnxruntime: alone".
    std::function<void(std::string_view)> progress;
};

struct BenchRow {
    std::string name;
    Loaded loaded;
    std::string absent;  ///< Why it is not installed; nothing else is set then.
    std::string error;   ///< Why it has no times.
    Distribution alone;
    Distribution in_turn;
    std::optional<double> max_error_of_scale;

    bool has_times() const { return absent.empty() && error.empty() && in_turn.runs > 0; }
    /// The medians in turn and alone are at most 10 % apart.
    bool is_valid() const;
    /// What counts: the figures in turn, but where these are invalid the faster ones.
    const Distribution& counted() const;
};

struct BenchReport {
    std::string model;
    MachineDescription machine;
    Fitness before, after;
    std::vector<BenchRow> rows;

    bool is_fit() const { return before.is_fit() && after.is_fit(); }
    const BenchRow* row(std::string_view name) const;
    /// How many times faster `name` is than `other`: none on an unfit machine or where either has
    /// no times.
    std::optional<double> speedup(std::string_view name, std::string_view other) const;
};

/// Contestants that are absent or fail get a row that says so, and the others go on.
BenchReport bench(const BenchCase&, std::span<const std::unique_ptr<Contestant>>,
                  const BenchSettings&);

enum class Details { No, Yes };
/// One JSON object: model, threads, machine, fit, rows with name, version, median_ms, quartiles_ms
/// and max_error_of_scale; a contestant that has no times has null in their place, and `absent` or
/// `error` says why. With details: settings, times alone and in turn, a note where these differ,
/// and speedups of "ollie" over the others.
std::string to_json(const BenchReport&, Details = Details::No);
/// The same for people.
std::string to_table(const BenchReport&);

/// The maximum of abs(y - exact) over the maximum of abs(exact), infinite where shapes differ or
/// only one of two elements is finite. Where exact is zero everywhere: 0 if y is, too.
double max_error_of_scale(const HostArray& y, const HostArray& exact);

}  // namespace ollie::optimize
