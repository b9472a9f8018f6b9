#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/calls.h"
#include "expr/build.h"
#include "expr/range.h"
#include "expr/visit.h"
#include "match/pattern.h"

/// Runs library calls on one definition and compares them with a plain evaluation.
namespace ollie::backends::cpu {

using Arrays = std::map<const expr::Tensor*, HostArray>;

/// Small integers, so that most sums are exact; zeros, ones and negative numbers among them.
inline HostArray some_values(const Shape& shape, uint64_t seed) {
    HostArray array(ElementType::F32, shape);
    for (float& value : array.as<float>()) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        value = static_cast<float>(static_cast<int>((seed >> 40) % 17) - 8) / 4;
    }
    return array;
}

/// The definition by its meaning, one element after another.
class Evaluation {
public:
    Evaluation(const Arrays& arrays) : arrays_(arrays) {}

    std::vector<double> operator()(const expr::Tensor* definition) {
        std::vector<double> result;
        each_point(definition->axes, 0, [&] { result.push_back(value(definition->body)); });
        return result;
    }

private:
    void each_point(const std::vector<expr::Axis>& axes, size_t at,
                    const std::function<void()>& visit) {
        if (at == axes.size()) return visit();
        for (int64_t i = axes[at].lo; i < axes[at].hi; ++i) {
            point_[axes[at].iterator] = i;
            each_point(axes, at + 1, visit);
        }
    }

    static int64_t floor_quotient(int64_t a, int64_t b) {
        return a / b - (a % b != 0 && (a < 0) != (b < 0));
    }

    int64_t value(expr::Index index) {
        int64_t sum = index->constant;
        for (const expr::Term& term : index->terms) {
            const expr::AtomNode& atom = *term.atom;
            int64_t part = 0;
            switch (atom.kind) {
                case expr::AtomKind::Iterator:
                    part = point_.at(atom.iterator);
                    break;
                case expr::AtomKind::FloorDiv:
                    part = floor_quotient(value(atom.a), atom.divisor);
                    break;
                case expr::AtomKind::Min:
                    part = std::min(value(atom.a), value(atom.b));
                    break;
                case expr::AtomKind::Max:
                    part = std::max(value(atom.a), value(atom.b));
                    break;
                case expr::AtomKind::Table:
                    part = atom.table.at(static_cast<size_t>(value(atom.a)));
                    break;
            }
            sum += term.coefficient * part;
        }
        return sum;
    }

    bool value(expr::Predicate predicate) {
        using expr::PredicateKind;
        switch (predicate->kind) {
            case PredicateKind::True:
                return true;
            case PredicateKind::False:
                return false;
            case PredicateKind::NonNegative:
                return value(predicate->index) >= 0;
            case PredicateKind::Zero:
                return value(predicate->index) == 0;
            case PredicateKind::And:
                for (auto operand : predicate->operands)
                    if (!value(operand)) return false;
                return true;
            case PredicateKind::Or:
                for (auto operand : predicate->operands)
                    if (value(operand)) return true;
                return false;
            case PredicateKind::Not:
                return !value(predicate->operands[0]);
        }
        return false;
    }

    double value(expr::Scalar scalar) {
        using expr::ScalarKind;
        switch (scalar->kind) {
            case ScalarKind::Constant:
                return scalar->constant;
            case ScalarKind::Read:
                return read(scalar);
            case ScalarKind::Number:
                return static_cast<double>(value(scalar->indices[0]));
            case ScalarKind::Add: {
                double sum = 0;
                for (auto operand : scalar->operands) sum += value(operand);
                return sum;
            }
            case ScalarKind::Mul: {
                double product = 1;
                for (auto operand : scalar->operands) product *= value(operand);
                return product;
            }
            case ScalarKind::Function:
                return function(scalar);
            case ScalarKind::Select:
                return value(scalar->operands[value(scalar->predicate) ? 0 : 1]);
            case ScalarKind::Reduce: {
                double total = expr::identity(scalar->monoid);
                each_point(scalar->axes, 0, [&] {
                    double next = value(scalar->operands[0]);
                    total =
                        scalar->monoid == expr::Monoid::Sum ? total + next : std::max(total, next);
                });
                return total;
            }
            default:
                ADD_FAILURE();
                return 0;
        }
    }

    double read(expr::Scalar scalar) {
        const HostArray& array = arrays_.at(scalar->tensor);
        int64_t flat = 0;
        for (size_t i = 0; i < scalar->indices.size(); ++i) {
            int64_t at = value(scalar->indices[i]);
            if (at < 0 || at >= array.shape()[i]) {
                EXPECT_TRUE(scalar->has_outside);
                return scalar->constant;
            }
            flat = flat * array.shape()[i] + at;
        }
        return array.at(flat);
    }

    double function(expr::Scalar scalar) {
        using expr::Function;
        double x = value(scalar->operands[0]);
        switch (scalar->function) {
            case Function::Reciprocal:
                return 1 / x;
            case Function::Tanh:
                return std::tanh(x);
            case Function::Sigmoid:
                return 1 / (1 + std::exp(-x));
            case Function::Exp:
                return std::exp(x);
            case Function::Abs:
                return std::abs(x);
            case Function::Max:
                return std::max(x, value(scalar->operands[1]));
            case Function::Min:
                return std::min(x, value(scalar->operands[1]));
            case Function::Less:
                return x < value(scalar->operands[1]);
            case Function::Where:
                return value(scalar->operands[x != 0 ? 1 : 2]);
            default:
                ADD_FAILURE();
                return 0;
        }
    }

    const Arrays& arrays_;
    std::map<expr::Iterator, int64_t> point_;
};

/// A dense copy of a row-major array in another layout, and back.
inline void store(const HostArray& from, const Layout& layout, float* to,
                  bool is_reversed = false) {
    std::vector<int64_t> strides = layout.strides(from.shape());
    std::vector<int64_t> point(from.shape().size(), 0);
    auto* elements = const_cast<float*>(from.as<float>().data());
    for (int64_t at = 0; at < from.size(); ++at) {
        int64_t place = 0;
        for (size_t i = 0; i < point.size(); ++i) place += point[i] * strides[i];
        (is_reversed ? elements[at] : to[place]) = is_reversed ? to[place] : elements[at];
        for (size_t i = point.size(); i-- > 0;) {
            if (++point[i] < from.shape()[i]) break;
            point[i] = 0;
        }
    }
}

/// A step made of a choice, with the values of weights in it.
struct PreparedCall {
    program::Program program;
    std::unique_ptr<CallInstance> instance;

    PreparedCall(const LibraryCall& call, const expr::Tensor* definition, const CallChoice& choice,
                 const Arrays& arrays) {
        program::Step step;
        step.target = call.name;
        step.parameters = choice.parameters;
        for (size_t i = 0; i < choice.arguments.size(); ++i) {
            const expr::Tensor* tensor = choice.arguments[i];
            program::Buffer buffer{tensor->name,           tensor->type,
                                   tensor->shape(),        choice.argument_layouts[i],
                                   program::Role::Scratch, nullptr};
            if (tensor->kind == expr::TensorKind::Weight)
                buffer.values = std::make_shared<HostArray>(arrays.at(tensor));
            step.arguments.push_back(static_cast<int>(program.buffers.size()));
            program.buffers.push_back(std::move(buffer));
        }
        step.results = {static_cast<int>(program.buffers.size())};
        program.buffers.push_back({definition->name, definition->type, definition->shape(),
                                   choice.result_layout, program::Role::Scratch, nullptr});
        program.steps.push_back(std::move(step));
        instance = call.prepare(program.steps[0], program);
    }

    HostArray run(const CallChoice& choice, const Arrays& arrays) {
        std::vector<HostArray> stored;
        for (size_t i = 0; i < choice.arguments.size(); ++i) {
            const HostArray& values = arrays.at(choice.arguments[i]);
            stored.emplace_back(ElementType::F32, values.shape());
            store(values, choice.argument_layouts[i], stored.back().as<float>().data());
        }
        HostArray raw(ElementType::F32, program.buffers.back().shape);
        for (float& value : raw.as<float>()) value = std::nanf("");
        std::vector<void*> arguments;
        for (size_t i = 0; i < stored.size(); ++i)
            arguments.push_back(program.buffers[i].values ? nullptr : stored[i].data());
        std::vector<void*> results{raw.data()};
        HostArray scratch(ElementType::U8, {instance->scratch_bytes() + 1});
        instance->run(arguments, results, scratch.data());
        instance->run(arguments, results, scratch.data());
        HostArray result(ElementType::F32, raw.shape());
        store(result, choice.result_layout, raw.as<float>().data(), true);
        return result;
    }
};

/// The first pattern of the call that the definition matches.
inline std::optional<match::Binding> bind(const LibraryCall& call, const expr::Tensor* definition) {
    for (size_t i = 0; i < call.patterns.size(); ++i) {
        auto result = match::match(definition, *match::parse_pattern(call.patterns[i]));
        if (!std::holds_alternative<match::Binding>(result)) continue;
        auto binding = std::get<match::Binding>(result);
        binding.pattern = static_cast<int>(i);
        return binding;
    }
    return std::nullopt;
}

/// The fewest mismatches that any pattern has with the definition.
inline std::string nearest(const LibraryCall& call, const expr::Tensor* definition) {
    std::vector<match::Mismatch> best;
    for (const std::string& pattern : call.patterns) {
        auto result = match::match(definition, *match::parse_pattern(pattern));
        auto* mismatches = std::get_if<std::vector<match::Mismatch>>(&result);
        if (mismatches && (best.empty() || mismatches->size() < best.size())) best = *mismatches;
    }
    std::string text;
    for (const match::Mismatch& mismatch : best) text += mismatch.text + "; ";
    return text;
}

inline Arrays values_for(const expr::Tensor* definition) {
    Arrays arrays;
    uint64_t seed = 1;
    for (const expr::Tensor* tensor : expr::sources_of(definition))
        arrays[tensor] = some_values(tensor->shape(), ++seed);
    return arrays;
}

/// Every choice of the call for the definition gives what the definition says. Returns how many
/// choices there are.
inline size_t check_call(const std::string& name, const expr::Tensor* definition) {
    const LibraryCall* call = find(name);
    if (call == nullptr) return 0;
    auto binding = bind(*call, definition);
    EXPECT_TRUE(binding) << nearest(*call, definition);
    if (!binding) return 0;
    auto choices = call->choices(*binding);
    if (!choices) {
        // Some are beyond the library; what it offers instead is too slow to be a choice.
        EXPECT_NE(choices.reason().find("only a reference implementation"), std::string::npos)
            << choices.reason();
        return 0;
    }
    Arrays arrays = values_for(definition);
    std::vector<double> expected = Evaluation(arrays)(definition);
    double scale = 1e-30;
    for (double value : expected) scale = std::max(scale, std::abs(value));
    for (const CallChoice& choice : *choices) {
        PreparedCall prepared(*call, definition, choice, arrays);
        HostArray actual = prepared.run(choice, arrays);
        double error = 0;
        for (size_t i = 0; i < expected.size(); ++i) {
            double difference = std::abs(actual.at(static_cast<int64_t>(i)) - expected[i]);
            error = std::isnan(difference) ? INFINITY : std::max(error, difference);
        }
        EXPECT_LE(error, 2e-6 * scale)
            << prepared.instance->implementation() << " source "
            << choice.argument_layouts[0].text() << " result " << choice.result_layout.text();
        EXPECT_GT(call->estimate(*binding, choice, {}), 0);
    }
    return choices->size();
}

}  // namespace ollie::backends::cpu
