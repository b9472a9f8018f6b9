#include "optimize/bench.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimize/temporary_folder.h"

namespace ollie::optimize {

namespace {

void tell(const BenchSettings& settings, const BenchRow& row, std::string_view what) {
    if (settings.progress) settings.progress(fmt::format("{}: {}", row.name, what));
}

LoadRequest write_inputs(const BenchCase& problem, const std::vector<int>& processors,
                         const std::filesystem::path& folder) {
    LoadRequest request{problem.model, processors, {}};
    for (const NamedArray& input : problem.inputs) {
        auto file = folder / fmt::format("input_{}.npy", request.inputs.size());
        write_npy(file, input.array);
        request.inputs.push_back({input.name, file});
    }
    return request;
}

HostArray elements_of(const HostArray& array, const std::vector<int64_t>& elements) {
    HostArray result(ElementType::F64, {static_cast<int64_t>(elements.size())});
    for (size_t i = 0; i < elements.size(); ++i) {
        if (elements[i] < array.size())
            result.set(static_cast<int64_t>(i), array.at(elements[i]));
        else
            result.set(static_cast<int64_t>(i), std::numeric_limits<double>::quiet_NaN());
    }
    return result;
}

double worst_error(const std::vector<HostArray>& outputs, const BenchCase& problem) {
    const std::vector<HostArray>& exact = problem.exact_outputs;
    if (outputs.size() != exact.size()) return std::numeric_limits<double>::infinity();
    double worst = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
        double error =
            problem.sampled.empty()
                ? max_error_of_scale(outputs[i], exact[i])
                : max_error_of_scale(elements_of(outputs[i], problem.sampled[i]), exact[i]);
        worst = std::max(worst, error);
    }
    return worst;
}

/// Runs of blocks that all count alike.
struct Blocks {
    std::vector<double> seconds;

    void add(std::vector<double> block) {
        seconds.insert(seconds.end(), block.begin(), block.end());
    }
};

/// One contestant with what is known of it.
struct Entry {
    Contestant& contestant;
    BenchRow& row;
    Blocks in_turn;

    bool is_active() const { return row.absent.empty() && row.error.empty(); }

    void attempt(const std::function<void()>& action) {
        try {
            action();
        } catch (const UserError& error) {
            row.error = error.what();
            contestant.suspend();
        }
    }

    void measure_alone(const LoadRequest& request, const BenchCase& problem,
                       const BenchSettings& settings) {
        tell(settings, row, "loading");
        OrRefusal<Loaded> loaded = contestant.prepare(request);
        if (!loaded) {
            row.absent = loaded.reason();
            return;
        }
        row.loaded = *loaded;
        if (!problem.exact_outputs.empty()) {
            row.max_error_of_scale = worst_error(contestant.outputs(), problem);
        }
        tell(settings, row, "alone");
        Blocks blocks;
        for (int i = 0; i < settings.alone_blocks; ++i) {
            blocks.add(contestant.run_block(settings.block));
        }
        row.alone = summarize(std::move(blocks.seconds));
        contestant.suspend();
    }

    void take_turn(const BenchSettings& settings) {
        tell(settings, row, "in turn");
        contestant.resume();
        in_turn.add(contestant.run_block(settings.block));
        contestant.suspend();
    }
};

}  // namespace

bool BenchRow::is_valid() const {
    return has_times() && std::abs(in_turn.median - alone.median) <= 0.1 * alone.median;
}

const Distribution& BenchRow::counted() const {
    return is_valid() || in_turn.median <= alone.median ? in_turn : alone;
}

const BenchRow* BenchReport::row(std::string_view name) const {
    auto found = std::find_if(rows.begin(), rows.end(),
                              [&](const BenchRow& row) { return row.name == name; });
    return found == rows.end() ? nullptr : &*found;
}

std::optional<double> BenchReport::speedup(std::string_view name, std::string_view other) const {
    const BenchRow* ours = row(name);
    const BenchRow* theirs = row(other);
    if (!is_fit() || ours == nullptr || theirs == nullptr) return std::nullopt;
    if (!ours->has_times() || !theirs->has_times()) return std::nullopt;
    return theirs->counted().median / ours->counted().median;
}

BenchReport bench(const BenchCase& problem,
                  std::span<const std::unique_ptr<Contestant>> contestants,
                  const BenchSettings& settings) {
    CHECK(!settings.processors.empty());
    BenchReport report;
    report.model = problem.model;
    report.machine = describe_machine();
    report.before = measure_fitness(settings.processors);
    report.rows.resize(contestants.size());
    TemporaryFolder folder;
    LoadRequest request = write_inputs(problem, settings.processors, folder.path());

    std::vector<Entry> entries;
    for (size_t i = 0; i < contestants.size(); ++i) {
        report.rows[i].name = contestants[i]->name();
        entries.push_back({*contestants[i], report.rows[i], {}});
        Entry& entry = entries.back();
        entry.attempt([&] { entry.measure_alone(request, problem, settings); });
    }
    for (int round = 0; round < settings.rounds; ++round) {
        for (Entry& entry : entries) {
            if (entry.is_active()) entry.attempt([&] { entry.take_turn(settings); });
        }
    }
    for (Entry& entry : entries) entry.row.in_turn = summarize(std::move(entry.in_turn.seconds));
    report.after = measure_fitness(settings.processors);
    return report;
}

double max_error_of_scale(const HostArray& y, const HostArray& exact) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (y.shape() != exact.shape()) return infinity;
    double error = 0, scale = 0;
    for (int64_t i = 0; i < exact.size(); ++i) {
        double found = y.at(i), right = exact.at(i);
        bool same = found == right || (std::isnan(found) && std::isnan(right));
        if (!std::isfinite(found) || !std::isfinite(right)) {
            if (!same) return infinity;
            continue;
        }
        error = std::max(error, std::abs(found - right));
        scale = std::max(scale, std::abs(right));
    }
    if (error == 0) return 0;
    return scale == 0 ? infinity : error / scale;
}

}  // namespace ollie::optimize
