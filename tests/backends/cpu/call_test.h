#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/calls.h"
#include "base/parallel.h"
#include "expr/build.h"
#include "expr/evaluate.h"
#include "expr/print.h"
#include "expr/range.h"
#include "expr/simplify.h"
#include "expr/visit.h"
#include "match/pattern.h"

/// Runs library calls on one definition and compares them with the evaluator.
namespace ollie::backends::cpu {

struct ById {
    bool operator()(const expr::Tensor* a, const expr::Tensor* b) const { return a->id < b->id; }
};
using Arrays = std::map<const expr::Tensor*, HostArray, ById>;

/// Small integers, so that most sums are exact; zeros, ones and negative numbers among them.
inline HostArray some_values(const Shape& shape, uint64_t seed) {
    HostArray array(ElementType::F32, shape);
    for (float& value : array.as<float>()) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        value = static_cast<float>(static_cast<int>((seed >> 40) % 17) - 8) / 4;
    }
    return array;
}

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

/// How the definition matches the call's patterns, one after another.
inline std::vector<match::Binding> bindings_of(const LibraryCall& call,
                                               const expr::Tensor* definition) {
    std::vector<match::Binding> bindings;
    for (size_t i = 0; i < call.patterns.size(); ++i) {
        auto result = match::match(definition, *match::parse_pattern(call.patterns[i]));
        if (!std::holds_alternative<match::Binding>(result)) continue;
        bindings.push_back(std::get<match::Binding>(result));
        bindings.back().pattern = static_cast<int>(i);
    }
    return bindings;
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

inline expr::Scalar leaky(expr::Scalar x, expr::Scalar slope) {
    expr::Scalar below =
        x->arena->function(expr::Function::Less, {x, x->arena->constant_scalar(0)});
    return x->arena->function(expr::Function::Where, {below, x * slope, x});
}

inline expr::Scalar elu(expr::Scalar x, double alpha) {
    expr::Scalar below =
        x->arena->function(expr::Function::Less, {x, x->arena->constant_scalar(0)});
    expr::Scalar exponential = x->arena->function(expr::Function::Exp, {x});
    return x->arena->function(expr::Function::Where, {below, (exponential + -1.0) * alpha, x});
}

/// Divisors have no zeros.
inline Arrays values_for(const expr::Tensor* definition) {
    Arrays arrays;
    uint64_t seed = 1;
    for (const expr::Tensor* tensor : expr::tensors_of(expr::Expr{nullptr, {definition}}))
        if (!tensor->is_definition()) arrays[tensor] = some_values(tensor->shape(), ++seed);
    for (auto& [tensor, array] : arrays)
        if (tensor->name.starts_with("divisor"))
            for (float& value : array.as<float>()) value = value == 0 ? 0.5f : value;
    return arrays;
}

/// Puts a few NaN and infinities into all but weights; nor into filters `k` that are inputs, since
/// what a pad is multiplied by does not count.
inline void spoil(Arrays& arrays, uint64_t seed) {
    constexpr float values[] = {NAN, INFINITY, -INFINITY};
    for (auto& [tensor, array] : arrays) {
        bool is_weight = tensor->kind == expr::TensorKind::Weight || tensor->name == "k";
        if (is_weight || array.size() == 0) continue;
        for (float value : values) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            array.as<float>()[(seed >> 33) % static_cast<uint64_t>(array.size())] = value;
        }
    }
}

/// What a definition says: of all elements or, where these are too dear, of some at corners, edges
/// and inside.
struct Reference {
    std::vector<int64_t> elements;  ///< Row-major.
    std::vector<double> values;
};

/// How many terms the reductions of one element have at most.
inline int64_t terms_of(expr::Scalar scalar) {
    int64_t most = 1;
    for (expr::Scalar operand : scalar->operands) most = std::max(most, terms_of(operand));
    if (scalar->tensor != nullptr && scalar->tensor->is_definition())
        most = std::max(most, terms_of(scalar->tensor->body));
    for (const expr::Axis& axis : scalar->axes) most *= axis.extent();
    return most;
}

inline std::vector<int64_t> some_elements(const Shape& shape, int64_t most) {
    int64_t count = element_count(shape);
    std::vector<int64_t> elements;
    uint64_t seed = static_cast<uint64_t>(count);
    auto random = [&](int64_t bound) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int64_t>((seed >> 33) % static_cast<uint64_t>(bound));
    };
    for (int64_t i = 0; i < std::min(most, count); ++i) {
        if (count <= most) {
            elements.push_back(i);
            continue;
        }
        int64_t element = 0;
        for (int64_t extent : shape) {
            int64_t places[] = {0, extent - 1, random(extent), random(extent)};
            element = element * extent + places[random(4)];
        }
        elements.push_back(element);
    }
    return elements;
}

inline std::vector<int64_t> point_of(int64_t element, const Shape& shape) {
    std::vector<int64_t> point(shape.size());
    for (size_t i = shape.size(); i-- > 0; element /= shape[i]) point[i] = element % shape[i];
    return point;
}

/// In float64; what takes no more than a million terms is evaluated whole.
inline Reference reference_of(const expr::Tensor* definition, const Arrays& arrays) {
    constexpr int64_t most_terms = 1'000'000;
    expr::Bindings bindings;
    for (const auto& [tensor, array] : arrays) bindings[tensor->name] = &array;
    expr::PointEvaluator evaluator({nullptr, {definition}}, bindings);
    Shape shape = definition->shape();
    Reference reference{some_elements(shape, most_terms / terms_of(definition->body)), {}};
    for (int64_t element : reference.elements)
        reference.values.push_back(evaluator.at(definition, point_of(element, shape)));
    return reference;
}

inline Reference whole(const HostArray& array) {
    Reference reference;
    for (int64_t i = 0; i < array.size(); ++i) {
        reference.elements.push_back(i);
        reference.values.push_back(array.at(i));
    }
    return reference;
}

/// The largest difference over the largest value; infinite, and shown, where one is no number and
/// the other is, or is of another kind.
inline double error_of(const HostArray& actual, const Reference& expected) {
    double scale = 1e-30;
    double error = 0;
    for (size_t i = 0; i < expected.elements.size(); ++i) {
        double wanted = expected.values[i];
        double got = actual.at(expected.elements[i]);
        if (std::isfinite(wanted) && std::isfinite(got)) {
            scale = std::max(scale, std::abs(wanted));
            error = std::max(error, std::abs(got - wanted));
        } else if (wanted != got && !(std::isnan(wanted) && std::isnan(got))) {
            ADD_FAILURE() << "element " << expected.elements[i] << " is " << got << ", not "
                          << wanted;
            return INFINITY;
        }
    }
    return error / scale;
}

/// What came of checking a call on one definition.
struct Checked {
    size_t choices = 0;
    size_t exact = 0;    ///< Choices that promise NaN and infinity as the meaning has them.
    std::string reason;  ///< Why there are none for the first pattern that matches.
};

/// Every choice of the call for the definition gives what the definition says.
inline Checked check_choices(const LibraryCall& call, const expr::Tensor* definition,
                             int threads = 1, double most_error = 2e-6) {
    set_threads(threads);
    SCOPED_TRACE(expr::print(expr::Expr{nullptr, {definition}}));
    Checked checked;
    std::vector<match::Binding> bindings = bindings_of(call, definition);
    EXPECT_FALSE(bindings.empty()) << nearest(call, definition);
    Arrays arrays = values_for(definition);
    Reference expected = reference_of(definition, arrays);
    std::optional<Reference> same;
    Arrays spoiled = arrays;
    spoil(spoiled, static_cast<uint64_t>(element_count(definition->shape())));
    std::optional<Reference> expected_spoiled;
    for (const match::Binding& binding : bindings) {
        auto choices = call.choices(binding);
        if (!choices && checked.reason.empty()) checked.reason = choices.reason();
        if (!choices) continue;
        for (const CallChoice& choice : *choices) {
            PreparedCall prepared(call, definition, choice, arrays);
            SCOPED_TRACE(testing::Message() << prepared.instance->implementation() << " source "
                                            << choice.argument_layouts[0].text() << " result "
                                            << choice.result_layout.text());
            ++checked.choices;
            HostArray result = prepared.run(choice, arrays);
            EXPECT_LE(error_of(result, expected), most_error);
            if (!same) same = whole(result);
            EXPECT_LE(error_of(result, *same), 2 * most_error) << "unlike the first choice";
            EXPECT_GT(call.estimate(binding, choice, {}), 0);
            if (choice.changes_nonfinite) continue;
            ++checked.exact;
            if (!expected_spoiled) expected_spoiled = reference_of(definition, spoiled);
            EXPECT_LE(error_of(prepared.run(choice, spoiled), *expected_spoiled), most_error)
                << "with NaN and infinity";
        }
    }
    return checked;
}

/// The same for a definition that is not beyond the library. Returns how many choices there are.
inline size_t check_call(const std::string& name, const expr::Tensor* definition) {
    Checked checked = check_choices(*find(name), definition);
    // What the library offers instead is too slow to be a choice.
    if (checked.choices == 0) {
        EXPECT_NE(checked.reason.find("only a reference implementation"), std::string::npos)
            << checked.reason;
    }
    return checked.choices;
}

}  // namespace ollie::backends::cpu
