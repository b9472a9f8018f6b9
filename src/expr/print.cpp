#include "expr/print.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "expr/index_text.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

constexpr int64_t most_printed_values = 64;

std::string range_text(const Axis& axis, const NameScope& scope) {
    std::string name = scope.text_of(axis.iterator);
    if (axis.lo == 0) return fmt::format("{}:{}", name, axis.hi);
    return fmt::format("{}:{}..{}", name, axis.lo, axis.hi);
}

/// A constant below zero, or a product that begins with one.
bool is_negative(Scalar s) {
    if (s->kind == ScalarKind::Mul) s = s->operands.front();
    return s->kind == ScalarKind::Constant && std::signbit(s->constant) && !std::isnan(s->constant);
}

bool is_reciprocal(Scalar s) {
    return s->kind == ScalarKind::Function && s->function == Function::Reciprocal;
}

/// A tensor's name, quoted where it would be taken for something else.
std::string tensor_text(const std::string& name) {
    bool is_word = monoid_of(name) || name == "cast" || name == "inf" || name == "nan";
    return is_word ? quoted_text(name) : name_text(name);
}

/// Appends scalars to a text. Three levels of precedence: sum, product, factor.
class ScalarPrinter {
public:
    explicit ScalarPrinter(std::string& out) : out_(out) {}

    void definition(const Tensor* tensor) {
        for (const Axis& axis : tensor->axes) scope_.push(axis.iterator);
        out_ += fmt::format("{}: {}[", tensor_text(tensor->name), name_of(tensor->type));
        axes(tensor->axes);
        out_ += "] = ";
        sum(tensor->body);
        for (const Axis& axis : tensor->axes) scope_.pop(axis.iterator);
    }

    void sum(Scalar s) {
        if (s->kind != ScalarKind::Add) return product(s);
        for (size_t i = 0; i < s->operands.size(); ++i) {
            Scalar operand = s->operands[i];
            if (i == 0) {
                product(operand);
            } else if (is_negative(operand)) {
                out_ += " - ";
                magnitude(operand);
            } else {
                out_ += " + ";
                product(operand);
            }
        }
    }

private:
    void product(Scalar s) {
        if (is_negative(s)) {
            out_ += '-';
            return magnitude(s);
        }
        if (s->kind == ScalarKind::Mul)
            factors(s->operands);
        else if (s->kind == ScalarKind::Reduce)
            reduction(s);
        else
            factor(s);
    }

    /// What is left of something negative without its sign. The first factor -1 goes, unless a
    /// constant follows, which would then be taken for the one that had the sign.
    void magnitude(Scalar s) {
        if (s->kind == ScalarKind::Constant) {
            out_ += number_text(-s->constant);
            return;
        }
        double first = -s->operands.front()->constant;
        std::vector<Scalar> rest(s->operands.begin() + 1, s->operands.end());
        if (first == 1 && rest.front()->kind != ScalarKind::Constant) {
            if (rest.size() == 1) return product(rest.front());
            return factors(rest);
        }
        out_ += number_text(first);
        for (Scalar operand : rest) next_factor(operand);
    }

    void factors(const std::vector<Scalar>& operands) {
        factor(operands.front());
        for (size_t i = 1; i < operands.size(); ++i) next_factor(operands[i]);
    }

    void next_factor(Scalar s) {
        out_ += is_reciprocal(s) ? " / " : " * ";
        factor(is_reciprocal(s) ? s->operands.front() : s);
    }

    void factor(Scalar s) {
        switch (s->kind) {
            case ScalarKind::Constant:
                out_ += number_text(s->constant);
                return;
            case ScalarKind::Read:
                return read(s);
            case ScalarKind::Number:
                out_ += fmt::format("number({})", text_of(s->indices.front(), scope_));
                return;
            case ScalarKind::Function:
                out_ += name_of(s->function);
                return arguments("", s->operands);
            case ScalarKind::Select:
                out_ += "select";
                return arguments(text_of(s->predicate, scope_), s->operands);
            case ScalarKind::Cast:
                out_ += fmt::format("cast {}", name_of(s->type));
                return arguments("", s->operands);
            default:
                out_ += '(';
                sum(s);
                out_ += ')';
        }
    }

    void arguments(std::string_view first, const std::vector<Scalar>& operands) {
        out_ += '(';
        out_ += first;
        for (size_t i = 0; i < operands.size(); ++i) {
            if (i > 0 || !first.empty()) out_ += ", ";
            sum(operands[i]);
        }
        out_ += ')';
    }

    void read(Scalar s) {
        out_ += tensor_text(s->tensor->name);
        out_ += '[';
        for (size_t i = 0; i < s->indices.size(); ++i) {
            if (i > 0) out_ += ", ";
            out_ += text_of(s->indices[i], scope_);
        }
        if (s->has_outside) out_ += fmt::format(" | {}", number_text(s->constant));
        out_ += ']';
    }

    void reduction(Scalar s) {
        for (const Axis& axis : s->axes) scope_.push(axis.iterator);
        out_ += name_of(s->monoid);
        out_ += '[';
        axes(s->axes);
        out_ += "] ";
        product(s->operands.front());
        for (const Axis& axis : s->axes) scope_.pop(axis.iterator);
    }

    void axes(const std::vector<Axis>& axes) {
        for (size_t i = 0; i < axes.size(); ++i)
            out_ += (i > 0 ? ", " : "") + range_text(axes[i], scope_);
    }

    std::string& out_;
    NameScope scope_;
};

std::string values_text(const HostArray& values) {
    std::string text;
    for (int64_t i = 0; i < values.size(); ++i) {
        if (i > 0) text += ", ";
        text += is_float(values.type()) ? number_text(values.at(i))
                                        : fmt::format("{}", values.int_at(i));
    }
    return text;
}

void print_source(const Tensor* tensor, std::string& out) {
    out += fmt::format("{} {}: {}[{}]", tensor->kind == TensorKind::Input ? "input" : "weight",
                       tensor_text(tensor->name), name_of(tensor->type),
                       fmt::join(tensor->shape(), ", "));
    if (tensor->values && tensor->values->size() <= most_printed_values)
        out += fmt::format(" = {{{}}}", values_text(*tensor->values));
}

void print_origin(const Origin& origin, std::string& out) {
    for (size_t i = 0; i < origin.size(); ++i)
        out += (i == 0 ? " from " : ", ") + quoted_text(origin[i]);
}

void print_tensor(const Tensor* tensor, std::string& out) {
    if (tensor->is_definition()) {
        if (tensor->pinned) out += "pinned ";
        ScalarPrinter(out).definition(tensor);
    } else {
        print_source(tensor, out);
    }
    print_origin(tensor->origin, out);
}

}  // namespace

std::string print(const Expr& expr) {
    std::vector<const Tensor*> sources = tensors_of(expr);
    std::vector<const Tensor*> marked;
    auto middle = std::stable_partition(sources.begin(), sources.end(),
                                        [](const Tensor* t) { return !t->is_definition(); });
    std::copy_if(middle, sources.end(), std::back_inserter(marked), [&](const Tensor* t) {
        return std::find(expr.outputs.begin(), expr.outputs.end(), t) != expr.outputs.end();
    });
    bool are_marked = marked == expr.outputs;
    std::string out;
    for (const Tensor* tensor : sources) {
        bool is_output = std::find(marked.begin(), marked.end(), tensor) != marked.end();
        if (are_marked && is_output) out += "output ";
        print_tensor(tensor, out);
        out += '\n';
    }
    if (are_marked) return out;
    out += "outputs";
    for (size_t i = 0; i < expr.outputs.size(); ++i)
        out += (i > 0 ? ", " : " ") + tensor_text(expr.outputs[i]->name);
    return out + '\n';
}

std::string print(const Tensor* tensor) {
    std::string out;
    print_tensor(tensor, out);
    return out;
}

std::string print(Scalar scalar) {
    std::string out;
    ScalarPrinter(out).sum(scalar);
    return out;
}

std::string print(Index index) { return text_of(index, {}); }
std::string print(Predicate predicate) { return text_of(predicate, {}); }

}  // namespace ollie::expr
