#include "program/verify.h"

#include <algorithm>
#include <map>
#include <set>

#include "expr/verify.h"
#include "expr/visit.h"
#include "program/print.h"

namespace ollie::program {
namespace {

class Verifier {
public:
    explicit Verifier(const Program& program) : program_(program) {}

    std::vector<std::string> run() {
        for (const Buffer& buffer : program_.buffers) check(buffer);
        check_inputs();
        for (size_t i = 0; i < program_.steps.size(); ++i) check(program_.steps[i], i);
        for (int output : program_.outputs)
            if (in_range(output) && !is_known(output))
                complain("nothing writes the output {}", program_.buffers[output].name);
        return std::move(found_);
    }

private:
    template <typename... Args>
    void complain(fmt::format_string<Args...> text, Args&&... args) {
        found_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    bool in_range(int buffer) {
        bool inside = buffer >= 0 && static_cast<size_t>(buffer) < program_.buffers.size();
        if (!inside) complain("there is no buffer {}", buffer);
        return inside;
    }

    bool is_known(int buffer) const {
        Role role = program_.buffers[buffer].role;
        return role == Role::Input || role == Role::Constant || written_.contains(buffer);
    }

    void check_inputs() {
        std::set<int> listed;
        for (int input : program_.inputs) {
            if (!in_range(input)) continue;
            const Buffer& buffer = program_.buffers[input];
            if (buffer.role != Role::Input)
                complain("{} is in the list of inputs and is none", buffer.name);
            if (!listed.insert(input).second) complain("{} is two inputs", buffer.name);
        }
        for (size_t i = 0; i < program_.buffers.size(); ++i)
            if (program_.buffers[i].role == Role::Input && !listed.contains(static_cast<int>(i)))
                complain("{} is an input that is not in the list", program_.buffers[i].name);
    }

    void check(const Buffer& buffer) {
        for (int64_t extent : buffer.shape)
            if (extent < 0) complain("{} has shape {}", buffer.name, to_text(buffer.shape));
        if (!names_.insert(buffer.name).second) complain("two buffers are named {}", buffer.name);
        std::vector<int> order = buffer.layout.order;
        std::sort(order.begin(), order.end());
        if (order != Layout::row_major(buffer.shape.size()).order)
            complain("{}: the order of storage is no permutation", buffer.name);
        if ((buffer.role == Role::Constant) != (buffer.values != nullptr))
            complain("{}: constants, and only they, have values", buffer.name);
        if (buffer.values &&
            (buffer.values->shape() != buffer.shape || buffer.values->type() != buffer.type))
            complain("{}: the values have another shape or type", buffer.name);
    }

    void check(const Step& step, size_t number) {
        std::map<std::string, const Buffer*> arguments;
        std::map<std::string, const Buffer*> results;
        for (int buffer : step.arguments) {
            if (!in_range(buffer)) continue;
            arguments[program_.buffers[buffer].name] = &program_.buffers[buffer];
            if (!is_known(buffer))
                complain("step {} reads {}, which nothing has written", number,
                         program_.buffers[buffer].name);
        }
        for (int buffer : step.results) {
            if (!in_range(buffer)) continue;
            const Buffer& result = program_.buffers[buffer];
            results[result.name] = &result;
            if (is_known(buffer)) complain("step {} writes {} again", number, result.name);
            written_.insert(buffer);
        }
        if (step.meaning.outputs.empty())
            complain("step {} has no meaning", number);
        else
            check_meaning(step, number, arguments, results);
    }

    void check_meaning(const Step& step, size_t number,
                       const std::map<std::string, const Buffer*>& arguments,
                       const std::map<std::string, const Buffer*>& results) {
        for (const std::string& violation : expr::violations(step.meaning))
            complain("step {}: {}", number, violation);
        for (const expr::Tensor* tensor : expr::tensors_of(step.meaning))
            if (!tensor->is_definition()) compare(*tensor, number, arguments);
        std::set<std::string> defined;
        for (const expr::Tensor* output : step.meaning.outputs) {
            compare(*output, number, results);
            defined.insert(output->name);
        }
        for (const auto& [name, buffer] : results)
            if (!defined.contains(name)) complain("step {}: its meaning has no {}", number, name);
    }

    void compare(const expr::Tensor& tensor, size_t number,
                 const std::map<std::string, const Buffer*>& buffers) {
        auto found = buffers.find(tensor.name);
        if (found == buffers.end())
            complain("step {}: its meaning has {}, its list has not", number, tensor.name);
        else if (found->second->shape != tensor.shape() || found->second->type != tensor.type)
            complain("step {}: {} has another shape or type in its meaning", number, tensor.name);
    }

    const Program& program_;
    std::vector<std::string> found_;
    std::set<std::string> names_;
    std::set<int> written_;
};

}  // namespace

std::vector<std::string> violations(const Program& program) { return Verifier(program).run(); }

void verify(const Program& program) {
    std::string text;
    for (const std::string& violation : violations(program)) text += "\n  " + violation;
    CHECK(text.empty(), "{}", text);
}

Key hash(const Program& program) {
    Hasher hasher;
    hasher.add(print(program));
    for (const Buffer& buffer : program.buffers)
        if (buffer.values)
            hasher.add(std::string_view(static_cast<const char*>(buffer.values->data()),
                                        static_cast<size_t>(buffer.values->bytes())));
    hasher.add(
        std::string_view(reinterpret_cast<const char*>(program.code.data()), program.code.size()));
    return hasher.add(program.code_target).key();
}

}  // namespace ollie::program
