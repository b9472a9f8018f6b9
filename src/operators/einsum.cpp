#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "expr/build.h"
#include "operators/meaning/domain.h"

namespace ollie::operators::entries {

using namespace expr;

namespace {

/// One letter per axis; the axes of an ellipsis are the capitals' place holders '0', '1', ...
/// counted from the last.
using Labels = std::string;

struct Equation {
    std::vector<std::string> operands;
    std::string result;
    bool has_result = false;
};

Equation parse(const Context& context) {
    std::string text = context.string_attribute("equation", "");
    std::erase(text, ' ');
    Equation equation;
    size_t arrow = text.find("->");
    equation.has_result = arrow != std::string::npos;
    if (equation.has_result) equation.result = text.substr(arrow + 2);
    std::string operands = text.substr(0, arrow);
    for (size_t begin = 0; begin <= operands.size();) {
        size_t end = std::min(operands.find(',', begin), operands.size());
        equation.operands.push_back(operands.substr(begin, end - begin));
        begin = end + 1;
    }
    if (equation.operands.size() != context.inputs.size())
        context.fail(fmt::format("equation \"{}\" has {} operands, the node {}", text,
                                 equation.operands.size(), context.inputs.size()));
    return equation;
}

/// The term with its ellipsis written out over `hidden` axes.
Labels expanded(const std::string& term, size_t hidden) {
    size_t dots = term.find("...");
    if (dots == std::string::npos) return term;
    Labels labels = term.substr(0, dots);
    for (size_t i = hidden; i-- > 0;) labels += static_cast<char>('0' + i);
    return labels + term.substr(dots + 3);
}

/// Without an arrow: the ellipsis, then the letters that occur once, in order of the alphabet.
Labels implied_result(const std::vector<Labels>& operands) {
    std::map<char, int> counts;
    for (const Labels& labels : operands)
        for (char label : labels) ++counts[label];
    Labels digits;
    Labels letters;
    for (auto [label, count] : counts) {
        if (label >= '0' && label <= '9')
            digits.insert(digits.begin(), label);
        else if (count == 1)
            letters += label;
    }
    return digits + letters;
}

class Meaning {
public:
    explicit Meaning(const Context& context) : context_(context) {
        Equation equation = parse(context);
        size_t most_hidden = 0;
        for (size_t i = 0; i < equation.operands.size(); ++i) {
            const std::string& term = equation.operands[i];
            size_t rank = context.input(i)->rank();
            bool has_dots = term.find("...") != std::string::npos;
            size_t written = term.size() - (has_dots ? 3 : 0);
            if (has_dots ? rank < written : rank != written)
                context.fail(fmt::format("term \"{}\" does not fit rank {}", term, rank));
            most_hidden = std::max(most_hidden, rank - written);
            operands_.push_back(expanded(term, rank - written));
        }
        result_ = equation.has_result ? expanded(equation.result, most_hidden)
                                      : implied_result(operands_);
        collect_axes();
    }

    Results run() const {
        std::vector<Axis> result;
        for (char label : result_) result.push_back(axis(label));
        std::vector<Axis> reduced;
        for (const auto& [label, axis] : axes_)
            if (result_.find(label) == Labels::npos) reduced.push_back(axis);
        std::vector<Scalar> factors;
        for (size_t i = 0; i < operands_.size(); ++i) factors.push_back(operand(i));
        Scalar body = sum(reduced, context_.arena.mul(factors));
        return {context_.define(0, context_.input(0)->type, result, body)};
    }

private:
    void collect_axes() {
        for (size_t i = 0; i < operands_.size(); ++i) {
            for (size_t k = 0; k < operands_[i].size(); ++k) {
                char label = operands_[i][k];
                int64_t extent = context_.input(i)->shape()[k];
                auto found = axes_.find(label);
                if (found == axes_.end())
                    axes_[label] = axis_of(context_.arena, name_of(label), extent);
                else if (found->second.hi == 1)
                    found->second.hi = extent;
                else if (extent != 1 && extent != found->second.hi)
                    context_.fail(fmt::format("label {} has extents {} and {}", name_of(label),
                                              found->second.hi, extent));
            }
        }
    }

    static std::string name_of(char label) {
        return label >= '0' && label <= '9' ? std::string("b") + label : std::string(1, label);
    }

    const Axis& axis(char label) const {
        auto found = axes_.find(label);
        if (found == axes_.end()) context_.fail(fmt::format("label {} is unknown", label));
        return found->second;
    }

    Scalar operand(size_t i) const {
        std::vector<Index> at;
        Shape shape = context_.input(i)->shape();
        for (size_t k = 0; k < shape.size(); ++k) {
            const Axis& own = axis(operands_[i][k]);
            at.push_back(shape[k] == own.hi ? index_of(own.iterator) : context_.arena.constant(0));
        }
        return read(context_.input(i), at);
    }

    const Context& context_;
    std::vector<Labels> operands_;
    Labels result_;
    std::map<char, Axis> axes_;
};

Results express(const Context& context) {
    require_same_type(context, context.inputs);
    return Meaning(context).run();
}

}  // namespace

extern const Operator einsum{"Einsum",
                             {},
                             12,
                             "the sum of products that the equation says, with ellipses",
                             {{"equation", "e.g. bij,bjk->bik"}},
                             express};

}  // namespace ollie::operators::entries
