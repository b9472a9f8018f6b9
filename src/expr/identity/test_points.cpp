#include "expr/identity/test_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "expr/range.h"
#include "expr/visit.h"

namespace ollie::expr {
namespace {

constexpr size_t most_per_axis = 40;
constexpr int64_t longest_run = 12;

/// A quasi-affine index as a straight line: slope per iterator, quotients without rounding.
using Slopes = std::map<Iterator, double>;

/// With an enclosure of the values.
struct Line {
    Slopes slopes;
    double lo = 0;
    double hi = 0;

    void add(const Line& other, double factor) {
        for (auto [iterator, slope] : other.slopes) slopes[iterator] += factor * slope;
        lo += std::min(factor * other.lo, factor * other.hi);
        hi += std::max(factor * other.lo, factor * other.hi);
    }
};

void add_slopes(Index index, double factor, Slopes& slopes) {
    for (const Term& term : index->terms) {
        double slope = factor * static_cast<double>(term.coefficient);
        const AtomNode& atom = *term.atom;
        switch (atom.kind) {
            case AtomKind::Iterator:
                slopes[atom.iterator] += slope;
                break;
            case AtomKind::FloorDiv:
                add_slopes(atom.a, slope / static_cast<double>(atom.divisor), slopes);
                break;
            case AtomKind::Min:
            case AtomKind::Max:
                add_slopes(atom.a, slope, slopes);
                break;
            case AtomKind::Table:
                break;
        }
    }
}

Line line_of(Index index, const Ranges& ranges) {
    Line line;
    add_slopes(index, 1, line.slopes);
    Interval interval = interval_of(index, ranges);
    line.lo = static_cast<double>(interval.lo);
    line.hi = static_cast<double>(interval.hi);
    return line;
}

/// Positions of interest of one tensor, per axis, counted from 0.
class Interest {
public:
    explicit Interest(const Tensor* tensor) : tensor_(tensor), positions_(tensor->rank()) {
        for (size_t d = 0; d < tensor->rank(); ++d) {
            add(d, 0);
            add(d, tensor->axes[d].extent() - 1);
        }
    }

    void add(size_t axis, int64_t position) {
        for (int64_t near = position - 1; near <= position + 1; ++near)
            if (near >= 0 && near < tensor_->axes[axis].extent()) positions_[axis].insert(near);
    }

    /// Positions where the line takes the value, the other iterators being at their ends.
    void add_solutions(const Line& line, double value) {
        for (size_t d = 0; d < tensor_->rank(); ++d) {
            const Axis& axis = tensor_->axes[d];
            auto slope = line.slopes.find(axis.iterator);
            if (slope == line.slopes.end() || std::fabs(slope->second) < 1e-9) continue;
            double reach = slope->second * static_cast<double>(axis.extent() - 1);
            double start = slope->second * static_cast<double>(axis.lo);
            // index = rest + slope * x with rest in [low, high]
            double low = line.lo - start - std::min(reach, 0.0);
            double high = line.hi - start - std::max(reach, 0.0);
            for (double rest : {low, high}) {
                double x = (value - rest) / slope->second - static_cast<double>(axis.lo);
                if (std::fabs(x) < 1e15) add(d, std::llround(std::floor(x)));
            }
        }
    }

    /// A run of residues from the front and the last partial period.
    void add_period(Index numerator, int64_t divisor) {
        for (size_t d = 0; d < tensor_->rank(); ++d) {
            Slopes slopes;
            add_slopes(numerator, 1, slopes);
            auto slope = slopes.find(tensor_->axes[d].iterator);
            if (slope == slopes.end()) continue;
            auto period = static_cast<int64_t>(
                std::ceil(static_cast<double>(divisor) / std::max(std::fabs(slope->second), 1e-6)));
            if (period < 1) continue;
            int64_t extent = tensor_->axes[d].extent();
            for (int64_t x = 0; x < std::min(period, longest_run); ++x) add(d, x);
            add(d, period);
            add(d, extent / period * period);
            add(d, extent / 2 / period * period);
        }
    }

    const std::vector<std::set<int64_t>>& positions() const { return positions_; }

    void thin() {
        for (std::set<int64_t>& axis : positions_) {
            if (axis.size() <= most_per_axis) continue;
            std::vector<int64_t> all(axis.begin(), axis.end());
            axis.clear();
            for (size_t i = 0; i < most_per_axis; ++i)
                axis.insert(all[i * (all.size() - 1) / (most_per_axis - 1)]);
        }
    }

private:
    const Tensor* tensor_;
    std::vector<std::set<int64_t>> positions_;
};

class BreakpointFinder {
public:
    explicit BreakpointFinder(const Expr& expr) {
        for (const Tensor* tensor : definitions_of(expr)) {
            Interest interest(tensor);
            Ranges ranges(tensor->axes);
            visit(tensor->body, ranges, interest);
            interest.thin();
            found_.emplace(tensor, std::move(interest));
        }
    }

    Breakpoints of(const Tensor* tensor) const {
        auto found = found_.find(tensor);
        Interest interest = found == found_.end() ? Interest(tensor) : found->second;
        Breakpoints result;
        for (const auto& axis : interest.positions()) result.emplace_back(axis.begin(), axis.end());
        return result;
    }

private:
    void visit(Index index, const Ranges& ranges, Interest& interest) {
        for (const Term& term : index->terms) {
            const AtomNode& atom = *term.atom;
            if (atom.kind == AtomKind::FloorDiv) interest.add_period(atom.a, atom.divisor);
            if (atom.kind == AtomKind::Min || atom.kind == AtomKind::Max) {
                // Where the two cross.
                Line difference = line_of(atom.a, ranges);
                difference.add(line_of(atom.b, ranges), -1);
                interest.add_solutions(difference, 0);
                visit(atom.b, ranges, interest);
            }
            if (atom.a) visit(atom.a, ranges, interest);
        }
    }

    void visit(Predicate predicate, const Ranges& ranges, Interest& interest) {
        if (predicate->index) {
            visit(predicate->index, ranges, interest);
            interest.add_solutions(line_of(predicate->index, ranges), 0);
        }
        for (Predicate operand : predicate->operands) visit(operand, ranges, interest);
    }

    void visit(Scalar scalar, Ranges& ranges, Interest& interest) {
        if (scalar->kind == ScalarKind::Reduce) ranges.add(scalar->axes);
        if (scalar->predicate) visit(scalar->predicate, ranges, interest);
        for (Index index : scalar->indices) visit(index, ranges, interest);
        if (scalar->kind == ScalarKind::Read) visit_read(scalar, ranges, interest);
        for (Scalar operand : scalar->operands) visit(operand, ranges, interest);
    }

    void visit_read(Scalar read, const Ranges& ranges, Interest& interest) {
        auto below = found_.find(read->tensor);
        for (size_t d = 0; d < read->indices.size(); ++d) {
            if (read->indices[d]->terms.empty()) continue;
            const Axis& axis = read->tensor->axes[d];
            Line line = line_of(read->indices[d], ranges);
            interest.add_solutions(line, static_cast<double>(axis.lo));
            interest.add_solutions(line, static_cast<double>(axis.hi));
            if (below == found_.end()) continue;
            for (int64_t position : below->second.positions()[d])
                interest.add_solutions(line, static_cast<double>(position + axis.lo));
        }
    }

    std::map<const Tensor*, Interest> found_;
};

class PointChooser {
public:
    PointChooser(const Shape& shape, const Breakpoints& breakpoints, uint64_t seed)
        : shape_(shape), breakpoints_(breakpoints), strides_(dense_strides(shape)), state_(seed) {}

    std::vector<int64_t> choose(int64_t count) {
        int64_t size = element_count(shape_);
        if (size <= count) {
            for (int64_t i = 0; i < size; ++i) add(i);
            return points_;
        }
        // Every breakpoint of every axis once, and then pairs of them as long as there is room.
        for (size_t round = 0; round < longest_axis(); ++round) add_aligned(round);
        int64_t random = std::max<int64_t>(count / 8, 1);
        for (int64_t tries = 0; tries < 4 * count && full_size() < count - random; ++tries)
            add_breakpoints();
        for (int64_t tries = 0; tries < 4 * count && full_size() < count; ++tries) add_random();
        if (full_size() > count) points_.resize(static_cast<size_t>(count));
        return points_;
    }

private:
    int64_t full_size() const { return static_cast<int64_t>(points_.size()); }

    uint64_t next() { return state_ = mix(state_); }
    int64_t below(size_t bound) { return static_cast<int64_t>(next() % bound); }

    size_t longest_axis() const {
        size_t longest = 0;
        for (const auto& axis : breakpoints_) longest = std::max(longest, axis.size());
        return longest;
    }

    void add(int64_t point) {
        if (seen_.insert(point).second) points_.push_back(point);
    }

    /// A Latin hypercube: round r takes breakpoint r of each axis in an order of its own.
    void add_aligned(size_t round) {
        if (orders_.empty()) {
            for (const auto& axis : breakpoints_) {
                orders_.push_back(axis);
                for (size_t i = axis.size(); i > 1; --i)
                    std::swap(orders_.back()[i - 1], orders_.back()[below(i)]);
            }
        }
        int64_t point = 0;
        for (size_t d = 0; d < orders_.size(); ++d)
            point += strides_[d] * orders_[d][round % orders_[d].size()];
        add(point);
    }

    void add_breakpoints() {
        int64_t point = 0;
        for (size_t d = 0; d < breakpoints_.size(); ++d)
            point += strides_[d] * breakpoints_[d][below(breakpoints_[d].size())];
        add(point);
    }

    void add_random() {
        int64_t point = 0;
        for (size_t d = 0; d < shape_.size(); ++d)
            point += strides_[d] * below(static_cast<size_t>(shape_[d]));
        add(point);
    }

    const Shape& shape_;
    const Breakpoints& breakpoints_;
    std::vector<int64_t> strides_;
    std::vector<std::vector<int64_t>> orders_;
    std::vector<int64_t> points_;
    std::set<int64_t> seen_;
    uint64_t state_;
};

}  // namespace

std::vector<Breakpoints> breakpoints_of(const Expr& expr) {
    BreakpointFinder finder(expr);
    std::vector<Breakpoints> result;
    for (const Tensor* output : expr.outputs) result.push_back(finder.of(output));
    return result;
}

Breakpoints merge(const Breakpoints& a, const Breakpoints& b) {
    Breakpoints result;
    for (size_t d = 0; d < a.size(); ++d) {
        std::set<int64_t> all(a[d].begin(), a[d].end());
        all.insert(b[d].begin(), b[d].end());
        result.emplace_back(all.begin(), all.end());
    }
    return result;
}

std::vector<int64_t> test_points(const Shape& shape, const Breakpoints& breakpoints, int64_t count,
                                 uint64_t seed) {
    return PointChooser(shape, breakpoints, seed).choose(count);
}

}  // namespace ollie::expr
