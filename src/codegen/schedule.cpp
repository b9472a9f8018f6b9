#include "codegen/schedule.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "codegen/access.h"
#include "expr/build.h"
#include "expr/visit.h"

namespace ollie::codegen {
namespace {

using namespace expr;
using Halide::TailStrategy;
using Halide::Var;

/// Below this many operations the start of a parallel loop costs more than it saves.
constexpr double serial_operations = 40000;
/// Taps are unrolled as far as the code stays short; with phases further, since each phase then
/// keeps only the taps that meet it.
constexpr int64_t most_unrolled_taps = 32;
constexpr int64_t most_unrolled_statements = 48;
constexpr int64_t most_unrolled_over_phases = 160;
/// An axis along which vectors cost that much more than along the best one is not tried.
constexpr double far = 4;

double weight_of(Scalar body) {
    double total = 0;
    for_each_scalar(body, [&](Scalar s) {
        if (s->kind == ScalarKind::Function) total += s->operands.size() == 1 ? 10 : 1;
        if (s->kind == ScalarKind::Add || s->kind == ScalarKind::Mul)
            total += static_cast<double>(s->operands.size()) - 1;
    });
    return total + 1;
}

int64_t points_of(const std::vector<Axis>& axes) {
    int64_t points = 1;
    for (const Axis& axis : axes) points *= axis.extent();
    return points;
}

double operations_of(const Kernel& kernel) {
    double total = 0;
    for (const Stage& stage : kernel.stages) {
        double each = weight_of(stage.tensor->body);
        each *= static_cast<double>(taps_of(stage));
        total += each * static_cast<double>(points_of(stage.tensor->axes));
    }
    return total;
}

int power_below(int64_t value, int most) {
    int lanes = 1;
    while (lanes * 2 <= most && lanes * 2 <= value) lanes *= 2;
    return lanes;
}

/// How the read moves with the loop: its address is unchanged, moves by the stride of the result's
/// vector, or otherwise.
bool is_reused_along(const Stage& stage, Iterator iterator) {
    bool some_fixed = false;
    for (Scalar read : reads_of(stage.tensor->body)) {
        bool moves = false;
        for (Index index : read->indices) moves = moves || uses(index, iterator);
        some_fixed = some_fixed || !moves;
    }
    return some_fixed;
}

bool has_reduction(const Kernel& kernel) {
    return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                       [](const Stage& stage) { return static_cast<bool>(stage.reduction()); });
}

/// All reads of the stage in the others are at the reader's own iterators, and the reader is the
/// result: it can be computed tile by tile.
bool is_pointwise_in_result(const Kernel& kernel, const Stage& stage) {
    for (const Stage& reader : kernel.stages)
        for (Scalar read : reads_of(reader.tensor->body)) {
            if (read->tensor != stage.tensor) continue;
            if (&reader != &kernel.result() || reader.reduction()) return false;
            for (Index index : read->indices)
                if (!as_iterator(index)) return false;
        }
    return true;
}

bool is_read_by_reduction(const Kernel& kernel, const Tensor* tensor) {
    for (const Stage& reader : kernel.stages) {
        if (!reader.reduction()) continue;
        for (Scalar read : reads_of(reader.tensor->body))
            if (read->tensor == tensor) return true;
    }
    return false;
}

class Scheduler {
public:
    Scheduler(const Schedule& schedule, const Kernel& kernel, Translation& translation,
              const VectorUnit& unit)
        : schedule_(schedule), kernel_(kernel), translation_(translation), unit_(unit) {}

    void run() {
        tile_result();
        find_windows();
        for (size_t i = 0; i < kernel_.stages.size(); ++i) {
            bool is_result = i + 1 == kernel_.stages.size();
            if (is_result && !kernel_.stages[i].reduction()) continue;
            schedule_stage(kernel_.stages[i], translation_.stages[i], is_result);
        }
    }

private:
    Halide::Func& result() { return translation_.result.function; }
    const Var& variable(int axis) const { return translation_.result.variables[axis]; }
    int64_t extent(int axis) const { return kernel_.loops[axis].extent; }

    void tile_result() {
        int rank = static_cast<int>(kernel_.loops.size());
        vector_ = schedule_.vector_axis < rank ? schedule_.vector_axis : rank - 1;
        rows_ =
            schedule_.rows_axis < rank && schedule_.rows_axis != vector_ ? schedule_.rows_axis : -1;
        if (rank == 0) return;
        lanes_ = vector_ < 0 ? 1 : power_below(extent(vector_), unit_.lanes);
        if (vector_ >= 0)
            unroll_ = static_cast<int>(
                std::clamp<int64_t>(schedule_.unroll, 1, extent(vector_) / lanes_));
        if (rows_ >= 0)
            row_count_ = static_cast<int>(std::clamp<int64_t>(schedule_.rows, 1, extent(rows_)));
        order_loops();
        make_parallel();
    }

    void order_loops() {
        std::vector<Halide::VarOrRVar> order;
        Var outer("tile"), inner("in_tile"), lane("lane"), step("vector"), row_outer("row_tile"),
            row("row");
        if (vector_ >= 0) {
            result().split(variable(vector_), outer, inner, unroll_ * lanes_,
                           TailStrategy::ShiftInwards);
            result().split(inner, step, lane, lanes_);
            result().vectorize(lane);
            order.push_back(lane);
        }
        for (int i = 0; i < rank(); ++i)
            if (kernel_.loops[i].is_phase && i != vector_) {
                result().bound(variable(i), 0, static_cast<int>(extent(i))).unroll(variable(i));
                order.push_back(variable(i));
            }
        if (vector_ >= 0) {
            result().unroll(step);
            order.push_back(step);
        }
        std::map<int, Var> parts;
        for (int i = 0; i < rank(); ++i) {
            if (!is_unrolled(i)) continue;
            Var part("period" + std::to_string(i)), within("in_period" + std::to_string(i));
            result().split(variable(i), part, within, static_cast<int>(kernel_.loops[i].period),
                           TailStrategy::GuardWithIf);
            result().unroll(within);
            order.push_back(within);
            parts.emplace(i, part);
        }
        if (rows_ >= 0) {
            result().split(variable(rows_), row_outer, row, row_count_, TailStrategy::ShiftInwards);
            result().unroll(row);
            order.push_back(row);
        }
        if (vector_ >= 0) outer_.push_back({outer, extent(vector_) / (unroll_ * lanes_)});
        for (int i = rank() - 1; i >= 0; --i) {
            if (i == vector_ || kernel_.loops[i].is_phase) continue;
            if (i == rows_)
                outer_.push_back({row_outer, extent(i) / row_count_});
            else if (parts.contains(i))
                outer_.push_back({parts.at(i), extent(i) / kernel_.loops[i].period});
            else
                outer_.push_back({variable(i), extent(i)});
        }
        for (const Outer& loop : outer_) order.push_back(loop.variable);
        result().reorder(order);
    }

    void make_parallel() {
        if (outer_.empty()) return;
        tile_ = outer_.front().variable;
        block_ = outer_.back().variable;
        int fused = std::min<int>(schedule_.parallel, static_cast<int>(outer_.size()));
        if (fused == 0) return;
        Var all = outer_.back().variable;
        for (int i = 1; i < fused; ++i) {
            Var next("fused" + std::to_string(i));
            result().fuse(outer_[outer_.size() - 1 - i].variable, all, next);
            all = next;
        }
        if (fused == static_cast<int>(outer_.size())) tile_ = all;
        block_ = all;
        result().parallel(all);
    }

    int rank() const { return static_cast<int>(kernel_.loops.size()); }

    /// Elements of each inner transform that one tile of the result needs, axis by axis; from the
    /// result to the producers.
    void find_windows() {
        Window whole;
        for (int i = 0; i < rank(); ++i) whole.push_back(tile_extent(i));
        windows_[kernel_.result().tensor] = whole;
        for (size_t i = kernel_.stages.size(); i-- > 0;) {
            const Stage& reader = kernel_.stages[i];
            auto known = windows_.find(reader.tensor);
            if (known == windows_.end()) continue;
            Ranges ranges = ranges_of(reader.tensor);
            for (size_t a = 0; a < reader.tensor->rank(); ++a)
                ranges.add(reader.tensor->axes[a].iterator, {0, known->second[a] - 1});
            for (Scalar read : reads_of(reader.tensor->body)) {
                const Stage* source = kernel_.stage(read->tensor);
                if (source == nullptr || !source->is_transform) continue;
                widen(*source, read, ranges);
            }
        }
    }

    void widen(const Stage& source, Scalar read, const Ranges& ranges) {
        std::vector<Interval>& hull = hulls_[source.tensor];
        Window& window = windows_[source.tensor];
        window.resize(source.tensor->rank(), 1);
        for (size_t a = 0; a < read->indices.size(); ++a) {
            Interval here = interval_of(read->indices[a], ranges);
            if (hull.size() <= a)
                hull.push_back(here);
            else
                hull[a] = {std::min(hull[a].lo, here.lo), std::max(hull[a].hi, here.hi)};
            window[a] = std::min(hull[a].hi - hull[a].lo + 1, source.tensor->axes[a].extent());
        }
    }

    /// Computed for one tile of the result, all of it unrolled, so that every coefficient is a
    /// constant of the code and the values stay in registers or next to them.
    void transform_in_tile(const Stage& stage, StageFunction& f) {
        constexpr int64_t most = 16;
        const Window& window = windows_[stage.tensor];
        place(f.function, tile_);
        f.function.store_in(Halide::MemoryType::Stack);
        std::vector<Halide::VarOrRVar> order;
        for (size_t a = 0; a < f.variables.size(); ++a) {
            const Var& v = f.variables[a];
            if (vector_ >= 0 && result_axis(stage, a) == vector_ && lanes_ > 1) {
                Var step("part"), lane("part_lane");
                f.function.split(v, step, lane, lanes_, TailStrategy::RoundUp);
                f.function.vectorize(lane).unroll(step);
                order.insert(order.begin(), Halide::VarOrRVar(lane));
                order.push_back(step);
            } else if (window[a] <= most) {
                f.function.bound_extent(v, static_cast<int>(window[a]));
                f.function.unroll(v);
                order.push_back(v);
            } else {
                order.push_back(v);
            }
        }
        if (order.size() > 1) f.function.reorder(order);
    }

    void schedule_stage(const Stage& stage, StageFunction& f, bool is_result) {
        if (stage.is_transform && !is_result) {
            if (windows_.contains(stage.tensor))
                transform_in_tile(stage, f);
            else
                in_block(stage, f);
            return;
        }
        bool reduction = static_cast<bool>(stage.reduction());
        if (reduction && (is_result || is_pointwise_in_result(kernel_, stage))) {
            in_tile(stage, f);
            return;
        }
        bool dear =
            weight_of(stage.tensor->body) > 6 && is_read_by_reduction(kernel_, stage.tensor);
        if (reduction || dear) in_block(stage, f);
    }

    void place(Halide::Func& function, const std::optional<Var>& loop) {
        if (loop)
            function.compute_at(result(), *loop);
        else
            function.compute_root();
    }

    /// The axis of the result that the stage's axis is.
    int result_axis(const Stage& stage, size_t axis) const {
        Iterator iterator = stage.tensor->axes[axis].iterator;
        const std::vector<Axis>& axes = kernel_.result().tensor->axes;
        for (size_t i = 0; i < axes.size(); ++i)
            if (axes[i].iterator == iterator) return static_cast<int>(i);
        return -1;
    }

    /// By its period, not as vector or rows.
    bool is_unrolled(int axis) const {
        return axis != vector_ && axis != rows_ && kernel_.loops[axis].period > 1;
    }

    int64_t tile_extent(int axis) const {
        if (axis == vector_) return static_cast<int64_t>(lanes_) * unroll_;
        if (axis == rows_) return row_count_;
        if (axis < 0) return 1;
        if (is_unrolled(axis)) return kernel_.loops[axis].period;
        return kernel_.loops[axis].is_phase ? extent(axis) : 1;
    }

    /// Accumulators of one tile in registers.
    void in_tile(const Stage& stage, StageFunction& f) {
        place(f.function, tile_);
        int64_t statements = 1;
        std::vector<Halide::VarOrRVar> inner;
        Halide::Stage init = f.function;
        Halide::Stage update = f.function.update();
        for (size_t i = 0; i < f.variables.size(); ++i) {
            int axis = result_axis(stage, i);
            if (axis < 0 || tile_extent(axis) == 1) continue;
            const Var& v = f.variables[i];
            if (axis == vector_ && lanes_ > 1) {
                Var step("part"), lane("part_lane");
                init.split(v, step, lane, lanes_, TailStrategy::RoundUp);
                update.split(v, step, lane, lanes_, TailStrategy::RoundUp);
                init.vectorize(lane).unroll(step);
                update.vectorize(lane).unroll(step);
                inner.insert(inner.begin(), Halide::VarOrRVar(lane));
                inner.push_back(step);
                statements *= unroll_;
            } else {
                init.unroll(v);
                update.unroll(v);
                inner.push_back(v);
                statements *= tile_extent(axis);
            }
        }
        order_taps(stage, f, update, inner, statements);
    }

    /// Reduction loops outside the tile; short ones unrolled.
    void order_taps(const Stage& stage, StageFunction& f, Halide::Stage& update,
                    std::vector<Halide::VarOrRVar> order, int64_t statements) {
        std::vector<Axis> axes = stage.reduction()->axes;
        std::reverse(axes.begin(), axes.end());
        bool phases = std::any_of(kernel_.loops.begin(), kernel_.loops.end(),
                                  [](const Loop& loop) { return loop.is_phase; });
        int64_t most = phases ? most_unrolled_over_phases : most_unrolled_statements;
        statements *= static_cast<int64_t>(weight_along_vector(stage));
        int64_t taps = 1;
        for (size_t i = 0; i < axes.size(); ++i) {
            Halide::RVar r = f.domain[static_cast<int>(i)];
            order.push_back(r);
            int64_t next = taps * axes[i].extent();
            bool unrolled =
                axes[i].extent() > 0 && next <= most_unrolled_taps && next * statements <= most;
            if (unrolled) update.unroll(r, static_cast<int>(axes[i].extent()));
            taps = unrolled ? next : most_unrolled_taps + 1;
        }
        if (order.size() > 1) update.reorder(order);
    }

    double weight_along_vector(const Stage& stage) const {
        if (vector_ < 0) return 1;
        Iterator iterator = kernel_.result().tensor->axes[vector_].iterator;
        return std::max(1.0, vector_weight(kernel_, stage, iterator, lanes_) /
                                 static_cast<double>(reads_of(stage.tensor->body).size()));
    }

    /// Stored for as much as one pass of the outermost loop needs.
    void in_block(const Stage& stage, StageFunction& f) {
        place(f.function, schedule_.root_intermediates ? std::nullopt : block_);
        if (f.variables.empty()) return;
        const Var& v = f.variables.back();
        int lanes = power_below(stage.tensor->axes.back().extent(), unit_.lanes);
        if (lanes == 1) return;
        f.function.vectorize(v, lanes, TailStrategy::GuardWithIf);
        if (stage.reduction()) f.function.update().vectorize(v, lanes, TailStrategy::GuardWithIf);
    }

    struct Outer {
        Var variable;
        int64_t count;
    };

    const Schedule& schedule_;
    const Kernel& kernel_;
    Translation& translation_;
    const VectorUnit& unit_;
    int vector_ = -1;
    int rows_ = -1;
    int lanes_ = 1;
    int unroll_ = 1;
    int row_count_ = 1;
    std::vector<Outer> outer_;  ///< Innermost first.
    std::optional<Var> tile_, block_;
    using Window = std::vector<int64_t>;
    std::map<const Tensor*, Window> windows_;
    std::map<const Tensor*, std::vector<Interval>> hulls_;
};

/// Outermost loops to fuse so that every thread has several pieces.
int parallel_loops(const Kernel& kernel, const Schedule& s, int threads, int lanes) {
    if (operations_of(kernel) < serial_operations || threads == 1) return 0;
    int64_t pieces = 1;
    int count = 0;
    for (size_t i = 0; i < kernel.loops.size() && pieces < 4 * threads; ++i) {
        const Loop& loop = kernel.loops[i];
        if (loop.is_phase || static_cast<int>(i) == s.vector_axis) continue;
        int64_t tile = static_cast<int>(i) == s.rows_axis ? s.rows : 1;
        pieces *= std::max<int64_t>(1, loop.extent / tile);
        ++count;
    }
    if (pieces < 4 * threads && s.vector_axis >= 0 &&
        kernel.loops[s.vector_axis].extent >= 2L * lanes * s.unroll)
        ++count;
    return count;
}

/// Whether vectors along the axis take a load or store for each lane next to a transform: unrolled
/// as these are, that would be too much code.
bool scatters_transform(const Kernel& kernel, int axis, int lanes) {
    Iterator iterator = kernel.result().tensor->axes[static_cast<size_t>(axis)].iterator;
    bool has_transform = false, scatters = false;
    for (const Stage& stage : kernel.stages) {
        if (!stage.is_transform) continue;
        has_transform = true;
        for (Scalar read : reads_of(stage.tensor->body))
            scatters = scatters || vector_weight(kernel, read, iterator, lanes) >= lanes;
    }
    return has_transform && (scatters || std::abs(kernel.loops[axis].stride) > widest_shuffle);
}

/// Axes to vectorize along, the cheapest first.
std::vector<int> vector_axes(const Kernel& kernel, int lanes) {
    constexpr size_t most = 2;
    std::vector<std::pair<double, int>> costs;
    for (int i = static_cast<int>(kernel.loops.size()) - 1; i >= 0; --i)
        if (!kernel.loops[i].is_phase && kernel.loops[i].period == 1 &&
            !scatters_transform(kernel, i, lanes))
            costs.emplace_back(vector_cost(kernel, i, power_below(kernel.loops[i].extent, lanes)),
                               i);
    std::stable_sort(costs.begin(), costs.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<int> axes;
    for (const auto& [cost, axis] : costs)
        if (axes.size() < most && (axes.empty() || cost < far * costs.front().first))
            axes.push_back(axis);
    if (axes.empty()) axes.push_back(-1);
    return axes;
}

/// Whether reading along the axis takes a load for each lane in some reduction: more of those in
/// flight only lengthen the code.
bool is_scattered(const Kernel& kernel, int axis, int lanes) {
    Iterator iterator = kernel.result().tensor->axes[static_cast<size_t>(axis)].iterator;
    return std::any_of(kernel.stages.begin(), kernel.stages.end(), [&](const Stage& stage) {
        return stage.reduction() &&
               vector_weight(kernel, stage, iterator, lanes) >= static_cast<double>(lanes);
    });
}

/// The loop other than the vector's along which something that a reduction reads is reused.
int rows_axis(const Kernel& kernel, int vector_axis) {
    int best = -1;
    for (int i = static_cast<int>(kernel.loops.size()) - 1; i >= 0; --i) {
        if (i == vector_axis || kernel.loops[i].is_phase || kernel.loops[i].extent < 2) continue;
        Iterator iterator = kernel.result().tensor->axes[i].iterator;
        for (const Stage& stage : kernel.stages)
            if (stage.reduction() && is_reused_along(stage, iterator) &&
                (best < 0 || kernel.loops[i].extent > kernel.loops[best].extent))
                best = i;
    }
    return best;
}

}  // namespace

VectorUnit vector_unit(const Halide::Target& target) {
    bool wide = target.has_feature(Halide::Target::AVX512);
    return {wide ? 16 : 8, wide ? 32 : 16};
}

std::vector<Schedule> schedules_of(const Kernel& kernel, int threads, const VectorUnit& unit) {
    std::vector<Schedule> result;
    int64_t phases = 1;
    for (const Loop& loop : kernel.loops) phases *= loop.is_phase ? loop.extent : loop.period;
    auto add = [&](int axis, int unroll, int rows_at, int rows) {
        int64_t tile = unroll * rows * phases;
        if (tile > std::max<int64_t>(phases, unit.registers * 3 / 4)) return;
        if (unroll * rows > 1 && axis >= 0 && is_scattered(kernel, axis, unit.lanes)) return;
        Schedule s{axis, unroll, rows_at, rows, 0, false};
        s.parallel = parallel_loops(kernel, s, threads, unit.lanes);
        if (std::find(result.begin(), result.end(), s) == result.end()) result.push_back(s);
    };
    for (int axis : vector_axes(kernel, unit.lanes)) {
        int rows_at = has_reduction(kernel) ? rows_axis(kernel, axis) : -1;
        if (rows_at >= 0) {
            add(axis, 2, rows_at, 4);
            add(axis, 1, rows_at, 8);
            add(axis, 2, rows_at, 2);
        }
        add(axis, 1, -1, 1);
        if (has_reduction(kernel)) add(axis, 4, -1, 1);
        add(axis, 2, -1, 1);
    }
    return result;
}

void apply(const Schedule& schedule, const Kernel& kernel, Translation& translation,
           const VectorUnit& unit) {
    Scheduler(schedule, kernel, translation, unit).run();
}

}  // namespace ollie::codegen
