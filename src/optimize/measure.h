#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "match/pattern.h"

/// What a time needs before it means anything: threads that have a core each, a machine that gives
/// them one, and blocks of runs rather than runs.
namespace ollie::optimize {

/// Processors that the calling thread might run on when this was first asked, so that it may be
/// pinned afterwards; the first one of each core before their siblings.
std::vector<int> usable_processors();

/// The first `threads` of them. UserError if there are fewer, or if `threads` is below 1.
std::vector<int> processors_for(int threads);

struct MachineDescription {
    std::string cpu;  ///< Model name.
    std::string isa;  ///< "avx2 fma avx512f ...": the extensions that matter to kernels here.
    int cores = 0;    ///< That this process may use.
    int64_t first_level_bytes = 0;  ///< Data cache of one core.
    int64_t second_level_bytes = 0;
    int64_t last_level_bytes = 0;  ///< Of the whole processor.
};

MachineDescription describe_machine();

/// Whether the threads get a core each: the work that all of them do at once over the work that one
/// does alone. Two busy threads have been seen to share a core, which nearly doubles every time.
struct Fitness {
    int threads = 1;
    double speedup = 1;
    /// Many threads slow the clock of all; two hardly do.
    bool is_fit() const { return speedup >= (threads > 2 ? 0.7 : 0.85) * threads; }
};

/// The best of a few tries, since a disturbance is no property of the machine.
Fitness measure_fitness(std::span<const int> processors, double seconds = 0.1, int tries = 3);

/// Peaks of that many threads together: multiply-adds in registers, reading what fits the
/// last-level cache, reading what does not, starting a parallel loop. Takes about half a second.
match::Machine measure_machine(std::span<const int> processors);

/// Gives every thread of the parallel loop's team one processor and sets the team's size. What
/// changes the size afterwards loses the pinning. For front doors; a library does not pin.
void pin_team(std::span<const int> processors);

/// Runs of one program in seconds. Quartiles interpolate between neighbours.
struct Distribution {
    int64_t runs = 0;
    double minimum = 0;
    double first_quartile = 0;
    double median = 0;
    double third_quartile = 0;
};

/// All zero where there are no runs.
Distribution summarize(std::vector<double> seconds);

struct BlockSettings {
    double seconds = 0.3;
    double warm_seconds = 0.1;  ///< At least one run, thrown away.
};

/// One block: warm-up, then the seconds of each run until the block is full, at least two runs.
std::vector<double> time_block(const std::function<void()>& run, const BlockSettings& = {});

/// Several blocks with nothing between them.
Distribution time_alone(const std::function<void()>& run, int blocks = 3,
                        const BlockSettings& = {});

}  // namespace ollie::optimize
