#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/storage_map.h"
#include "support/program_builder.h"

namespace ollie::testing {

/// Random programs of copies, permutations, reshapes and sums over a few small tensors in random
/// orders of storage, with repeated constants and steps, dead steps and several outputs.
class RandomProgram {
public:
    explicit RandomProgram(unsigned seed) : random_(seed) {}

    ProgramBuilder make() {
        add_buffer({2, 3, 4}, program::Role::Input, false);
        for (int i = 0; i < 3; ++i) {
            HostArray values = counting({2, 3, 4}, 1 + below(2));
            std::string name = next_name();
            builder_.constant(name, values, order(3));
            tensors_.push_back({name, values.shape()});
        }
        int count = 1 + below(10);
        for (int i = 0; i < count; ++i) add_step(program::Role::Scratch);
        int outputs = 1 + below(3);
        for (int i = 0; i < outputs; ++i) add_step(program::Role::Output);
        return std::move(builder_);
    }

private:
    struct Tensor {
        std::string name;
        Shape shape;
    };

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    std::string next_name() { return fmt::format("t{}", tensors_.size()); }

    std::vector<int> order(size_t rank) {
        std::vector<int> result(rank);
        std::iota(result.begin(), result.end(), 0);
        if (below(2) == 0) std::shuffle(result.begin(), result.end(), random_);
        return result;
    }

    std::string add_buffer(const Shape& shape, program::Role role, bool any_order) {
        std::string name = next_name();
        builder_.buffer(name, shape, role,
                        any_order ? order(shape.size()) : Layout::row_major(shape.size()).order);
        tensors_.push_back({name, shape});
        return name;
    }

    static std::string declared(const Tensor& tensor) {
        return fmt::format("input {}: f32[{}]\n", tensor.name, fmt::join(tensor.shape, ", "));
    }
    static std::string axes_of(const Shape& shape) {
        std::vector<std::string> axes;
        for (size_t k = 0; k < shape.size(); ++k)
            axes.push_back(fmt::format("i{}:{}", k, shape[k]));
        return fmt::format("{}", fmt::join(axes, ", "));
    }

    void add_step(program::Role role) {
        Tensor source = tensors_[static_cast<size_t>(below(static_cast<int>(tensors_.size())))];
        switch (below(4)) {
            case 0:
                return permute(source, role);
            case 1:
                return reshape(source, role);
            case 2:
                return sum(source, role);
            default:
                return move(source, source.shape, axes_read(source.shape), role);
        }
    }

    static std::vector<std::string> axes_read(const Shape& shape) {
        std::vector<std::string> indices;
        for (size_t k = 0; k < shape.size(); ++k) indices.push_back(fmt::format("i{}", k));
        return indices;
    }

    void move(const Tensor& source, const Shape& shape, const std::vector<std::string>& indices,
              program::Role role) {
        std::string result = add_buffer(shape, role, role == program::Role::Scratch);
        builder_.call("reference", {source.name}, {result},
                      fmt::format("{}output {}: f32[{}] = {}[{}]", declared(source), result,
                                  axes_of(shape), source.name, fmt::join(indices, ", ")));
        bool may_be_copy = program::storage_map(builder_.last(), builder_.program()).has_value();
        if (may_be_copy && below(3) != 0) builder_.last().target = "copy";
    }

    void permute(const Tensor& source, program::Role role) {
        std::vector<int> axes(source.shape.size());
        std::iota(axes.begin(), axes.end(), 0);
        std::shuffle(axes.begin(), axes.end(), random_);
        Shape shape(axes.size());
        std::vector<std::string> indices;
        for (size_t k = 0; k < axes.size(); ++k) {
            shape[static_cast<size_t>(axes[k])] = source.shape[k];
            indices.push_back(fmt::format("i{}", axes[k]));
        }
        move(source, shape, indices, role);
    }

    void reshape(const Tensor& source, program::Role role) {
        static const std::vector<Shape> shapes{{24},      {6, 4},    {2, 12},
                                               {4, 3, 2}, {2, 3, 4}, {1, 24}};
        const Shape& shape = shapes[static_cast<size_t>(below(static_cast<int>(shapes.size())))];
        std::vector<int64_t> strides = dense_strides(shape);
        std::vector<int64_t> from = dense_strides(source.shape);
        std::string position = "0";
        for (size_t k = 0; k < shape.size(); ++k)
            position += fmt::format(" + {} * i{}", strides[k], k);
        std::vector<std::string> indices;
        for (size_t k = 0; k < source.shape.size(); ++k)
            indices.push_back(
                fmt::format("(({}) div {}) mod {}", position, from[k], source.shape[k]));
        move(source, shape, indices, role);
    }

    void sum(const Tensor& source, program::Role role) {
        const Tensor& other =
            tensors_[static_cast<size_t>(below(static_cast<int>(tensors_.size())))];
        if (other.name == source.name || other.shape != source.shape)
            return move(source, source.shape, axes_read(source.shape), role);
        Tensor second = other;
        std::string result = add_buffer(source.shape, role, role == program::Role::Scratch);
        std::string indices = fmt::format("{}", fmt::join(axes_read(source.shape), ", "));
        builder_.call("reference", {source.name, second.name}, {result},
                      fmt::format("{}{}output {}: f32[{}] = {}[{}] + {}[{}]", declared(source),
                                  declared(second), result, axes_of(source.shape), source.name,
                                  indices, second.name, indices));
    }

    std::mt19937 random_;
    ProgramBuilder builder_;
    std::vector<Tensor> tensors_;
};

}  // namespace ollie::testing
