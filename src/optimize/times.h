#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "match/pattern.h"
#include "optimize/options.h"
#include "optimize/tuning_database.h"
#include "program/program.h"

namespace ollie::optimize {

/// What programs cost, each measured once: a time that the tuning database has is not measured
/// again. Without measurement the database is frozen, and what it does not have is unknown.
class Times {
public:
    explicit Times(const Options&);

    /// Seconds of one run, alone; negative where unknown. Roughly only where it cannot become
    /// better than `best`, the least seconds of what it competes with.
    double of(const program::Program&, double best = std::numeric_limits<double>::infinity());
    /// The same from the database only.
    std::optional<double> find(const program::Program&) const;
    /// The machine's peaks for estimates, measured once like everything else; defaults where they
    /// are unknown.
    match::Machine machine();

    bool may_measure() const { return measures_; }
    /// Whether `of` can answer at all.
    bool knows_any() const { return measures_ || database_.size() > 0; }
    int64_t measured() const { return measured_; }
    int64_t known() const { return known_; }
    const std::vector<std::string>& notes() const { return database_.notes(); }

private:
    bool measures_;
    int threads_;
    TuningDatabase database_;
    int64_t measured_ = 0;
    int64_t known_ = 0;
};

/// Equal for programs whose steps do the same on tensors of the same shapes in the same layouts,
/// whatever the names and the values: what the tuning database calls a program. Of a kernel the
/// schedule counts, the symbol does not.
std::string tuning_key(const program::Program&);

}  // namespace ollie::optimize
