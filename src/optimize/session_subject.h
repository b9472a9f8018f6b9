#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "optimize/subject.h"
#include "runtime/session.h"

namespace ollie::optimize {

/// A program of our own, timed like everybody else: from inputs in place to outputs in place.
class SessionSubject : public Subject {
public:
    /// Makes the program of a request, e.g. reads a compiled file or compiles the model.
    using Maker = std::function<std::shared_ptr<const program::Program>(const LoadRequest&)>;

    SessionSubject(std::string version, Maker make);

    /// UserError where the request lacks an input, or one has another type or shape.
    Loaded load(const LoadRequest&) override;
    void run_once() override;
    std::vector<NamedArray> outputs() override;

private:
    std::string version_;
    Maker make_;
    std::unique_ptr<runtime::Session> session_;
    std::vector<HostArray> inputs_, outputs_;
    std::vector<const void*> input_pointers_;
    std::vector<void*> output_pointers_;
};

}  // namespace ollie::optimize
