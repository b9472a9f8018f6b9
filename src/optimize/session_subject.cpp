#include "optimize/session_subject.h"

#include <algorithm>

namespace ollie::optimize {

namespace {

HostArray read_input(const program::Buffer& buffer, const LoadRequest& request) {
    auto given = std::find_if(request.inputs.begin(), request.inputs.end(),
                              [&](const NamedFile& file) { return file.name == buffer.name; });
    if (given == request.inputs.end()) throw_user_error("no value for input '{}'", buffer.name);
    HostArray array = read_npy(given->file);
    if (array.type() != buffer.type || array.shape() != buffer.shape) {
        throw_user_error("input '{}' is {} {}, but {} {} was given", buffer.name,
                         name_of(buffer.type), to_text(buffer.shape), name_of(array.type()),
                         to_text(array.shape()));
    }
    return array;
}

}  // namespace

SessionSubject::SessionSubject(std::string version, Maker make)
    : version_(std::move(version)), make_(std::move(make)) {}

Loaded SessionSubject::load(const LoadRequest& request) {
    session_ = std::make_unique<runtime::Session>(make_(request));
    const program::Program& program = session_->program();
    inputs_.clear();
    outputs_.clear();
    for (int index : program.inputs) {
        inputs_.push_back(read_input(program.buffers[static_cast<size_t>(index)], request));
    }
    for (int index : program.outputs) {
        const program::Buffer& buffer = program.buffers[static_cast<size_t>(index)];
        outputs_.emplace_back(buffer.type, buffer.shape);
    }
    input_pointers_.clear();
    output_pointers_.clear();
    for (const HostArray& input : inputs_) input_pointers_.push_back(input.data());
    for (HostArray& output : outputs_) output_pointers_.push_back(output.data());
    return {version_, fmt::format("{} threads pinned, buffers in place", request.threads())};
}

void SessionSubject::run_once() { session_->run(input_pointers_, output_pointers_); }

std::vector<NamedArray> SessionSubject::outputs() {
    const program::Program& program = session_->program();
    std::vector<NamedArray> named;
    for (size_t i = 0; i < outputs_.size(); ++i) {
        auto index = static_cast<size_t>(program.outputs[i]);
        named.push_back({program.buffers[index].name, outputs_[i]});
    }
    return named;
}

}  // namespace ollie::optimize
