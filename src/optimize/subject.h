#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/contestant.h"

namespace ollie::optimize {

struct NamedArray {
    std::string name;
    HostArray array;
};

/// What a child process times: the other end of ChildContestant.
class Subject {
public:
    virtual ~Subject() = default;

    /// Makes everything ready and puts the inputs in place; threads are bound already. Not timed.
    virtual Loaded load(const LoadRequest&) = 0;
    /// Timed: from inputs in place to outputs in place.
    virtual void run_once() = 0;
    /// What the last run left, in the model's order.
    virtual std::vector<NamedArray> outputs() = 0;
};

/// Answers requests (`contestant.h` has the protocol) until "quit" or the end of the input. Binds
/// the parallel loop's team to the request's processors. Errors of the subject are answers.
void serve(Subject&, std::istream& requests, const std::function<void(std::string_view)>& reply);

/// The same on standard input and output; whatever else is printed to standard output meanwhile
/// goes to standard error.
void serve_standard_streams(Subject&);

}  // namespace ollie::optimize
