#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace ollie::derive {
struct Rule;
}
namespace ollie::backends {
struct LibraryCall;
}

namespace ollie::optimize {

enum class Accuracy { Strict, Default, Fast };

struct Options {
    int threads = 0;                      ///< 0: as many as cores.
    std::map<std::string, Shape> shapes;  ///< Input name -> shape.
    double budget_seconds = 0;            ///< For search and measurement together; 0: none.
    Accuracy accuracy = Accuracy::Default;
    std::set<std::string> disabled_rules;
    /// Besides the catalogue's; no front door sets them. For rules on trial.
    std::vector<const derive::Rule*> extra_rules;
    /// Likewise. A name that the runtime knows is what is then called.
    std::vector<const backends::LibraryCall*> extra_calls;
    bool measure = true;           ///< Else estimates and the frozen tuning database decide.
    std::string cache_folder;      ///< Object code; empty: none.
    std::string tuning_file;       ///< Tuning database; empty: none.
    int search_depth = 4;          ///< Rule applications of cost 1.
    int64_t search_states = 1500;  ///< Per distinct subprogram.
    int candidates = 10;           ///< Per distinct subprogram, measured at most.
    uint64_t seed = 1;
    const std::atomic<bool>* stop = nullptr;  ///< True: return the best so far.
};

}  // namespace ollie::optimize
