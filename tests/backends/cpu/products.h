#pragma once

#include <functional>

#include "backends/cpu/call_test.h"

/// Makes definitions of sums of products of two tensors.
namespace ollie::backends::cpu {

using expr::Axis;
using expr::Function;
using expr::Index;
using expr::Scalar;
using expr::Tensor;

/// A contraction by the letters of its iterators: "nuvfrs = ncuv fcrs".
struct Contraction {
    std::string result;
    std::string first;
    std::string second;
    std::map<char, int64_t> extents;
    bool first_is_constant = false;
    bool second_is_constant = true;
};

struct ProductMaker {
    expr::Arena arena;
    std::map<char, Axis> axes;
    std::vector<Axis> result;
    std::string result_letters;

    const Tensor* tensor(const std::string& name, const std::string& letters, bool is_constant) {
        Shape shape;
        for (char letter : letters) shape.push_back(axes.at(letter).extent());
        return is_constant ? arena.weight(name, ElementType::F32, shape)
                           : arena.input(name, ElementType::F32, shape);
    }

    Scalar read(const std::string& name, const std::string& letters, bool is_constant = false) {
        std::vector<Index> indices;
        for (char letter : letters) indices.push_back(index_of(axes.at(letter).iterator));
        return arena.read(tensor(name, letters, is_constant), indices);
    }

    Scalar product(const Contraction& c) {
        for (auto [letter, extent] : c.extents)
            axes[letter] = {arena.iterator(std::string(1, letter)), 0, extent};
        std::vector<Axis> reduced;
        for (auto& [letter, axis] : axes)
            if (c.result.find(letter) == std::string::npos) reduced.push_back(axis);
        for (char letter : c.result) result.push_back(axes.at(letter));
        result_letters = c.result;
        return sum(reduced, read("a", c.first, c.first_is_constant) *
                                read("b", c.second, c.second_is_constant));
    }

    const Tensor* define(Scalar body) { return arena.define("y", ElementType::F32, result, body); }
};

}  // namespace ollie::backends::cpu
