#include "optimize/select.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include "expr/visit.h"

namespace ollie::optimize {
namespace {

using namespace expr;

/// Names of the tensors that the subprogram reads and writes, in order of appearance.
struct Boundary {
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<int64_t> input_bytes;
};

Boundary boundary_of(const Expr& expr) {
    Boundary result;
    for (const Tensor* tensor : tensors_of(expr)) {
        if (tensor->kind != TensorKind::Input) continue;
        result.inputs.push_back(tensor->name);
        result.input_bytes.push_back(element_count(tensor->shape()) * size_of(tensor->type));
    }
    for (const Tensor* output : expr.outputs) result.outputs.push_back(output->name);
    return result;
}

struct Partial {
    double seconds = 0;
    std::vector<const Fragment*> fragments;
    /// Live tensors: every layout in which each is there already.
    std::map<std::string, std::set<Layout>> layouts;
};

class Selector {
public:
    Selector(const std::vector<express::Subprogram>& subprograms, const Solutions& solutions,
             Among among, const match::Machine& machine)
        : solutions_(solutions), among_(among), machine_(machine) {
        for (const auto& subprogram : subprograms)
            boundaries_.push_back(boundary_of(subprogram.expr));
        for (const Solution* solution : solutions.of)
            problem_inputs_.push_back(boundary_of(solution->problem).inputs);
        for (size_t i = 0; i < boundaries_.size(); ++i)
            for (const std::string& input : boundaries_[i].inputs) last_use_[input] = i;
    }

    Selection run() {
        std::vector<Partial> beam(1);
        for (size_t i = 0; i < boundaries_.size(); ++i) beam = advance(beam, i);
        Partial& best = beam.front();
        return {std::move(best.fragments), best.seconds};
    }

private:
    std::vector<const Fragment*> ways_of(const Solution& solution) const {
        std::vector<const Fragment*> ways;
        for (const Fragment& fragment :
             among_ == Among::Optimized ? solution.fragments : solution.unoptimized)
            if (!fragment.refused) ways.push_back(&fragment);
        if (!ways.empty()) return ways;
        for (const auto& last : solution.last_resorts)
            if (!last->fragment.refused) ways.push_back(&last->fragment);
        return ways;
    }

    std::vector<Partial> advance(const std::vector<Partial>& beam, size_t i) const {
        const Solution& solution = *solutions_.of[i];
        std::vector<const Fragment*> fragments = ways_of(solution);
        std::map<std::map<std::string, std::set<Layout>>, Partial> merged;
        for (const Partial& partial : beam) {
            for (const Fragment* fragment : fragments) {
                Partial next = extended(partial, *fragment, i);
                auto [found, is_new] = merged.try_emplace(next.layouts, next);
                if (!is_new && next.seconds < found->second.seconds) found->second = next;
            }
        }
        CHECK(!merged.empty(), "no way to run a part of the model: {}",
              fmt::join(solution.lost, "; "));
        std::vector<Partial> result;
        for (auto& [layouts, partial] : merged) result.push_back(std::move(partial));
        std::stable_sort(result.begin(), result.end(),
                         [](const Partial& x, const Partial& y) { return x.seconds < y.seconds; });
        if (result.size() > beam_width) result.resize(beam_width);
        return result;
    }

    Partial extended(const Partial& partial, const Fragment& fragment, size_t i) const {
        const Boundary& boundary = boundaries_[i];
        Partial next = partial;
        next.fragments.push_back(&fragment);
        next.seconds += fragment.cost();
        for (size_t k = 0; k < boundary.inputs.size(); ++k) {
            if (const Layout* wanted = fragment.input_layout(problem_inputs_[i][k])) {
                auto& there = next.layouts[boundary.inputs[k]];
                if (there.empty()) there.insert(Layout::row_major(wanted->order.size()));
                if (there.insert(*wanted).second)
                    next.seconds += copy_seconds(boundary.input_bytes[k]);
            }
            if (last_use_.at(boundary.inputs[k]) <= i) next.layouts.erase(boundary.inputs[k]);
        }
        for (size_t k = 0; k < boundary.outputs.size(); ++k) {
            const std::string& name = boundary.outputs[k];
            const Layout& layout = fragment.output_layout(k);
            if (last_use_.contains(name))
                next.layouts[name] = {layout};
            else if (!layout.is_row_major())
                next.seconds += copy_seconds(bytes_of(fragment, k));
        }
        return next;
    }

    static int64_t bytes_of(const Fragment& fragment, size_t output) {
        return fragment.program.buffers[fragment.program.outputs[output]].bytes();
    }

    /// A change of layout reads and writes the tensor, at half the speed of a plain copy.
    double copy_seconds(int64_t bytes) const {
        double bandwidth =
            bytes < machine_.cache_bytes / 4 ? machine_.cache_bandwidth : machine_.memory_bandwidth;
        return machine_.call_seconds + 4 * static_cast<double>(bytes) / bandwidth;
    }

    const Solutions& solutions_;
    Among among_;
    const match::Machine& machine_;
    std::vector<Boundary> boundaries_;
    /// What the inputs of each boundary are called in its solution's fragments.
    std::vector<std::vector<std::string>> problem_inputs_;
    std::map<std::string, size_t> last_use_;
};

}  // namespace

Selection select(const std::vector<express::Subprogram>& subprograms, const Solutions& solutions,
                 Among among, const match::Machine& machine) {
    return Selector(subprograms, solutions, among, machine).run();
}

}  // namespace ollie::optimize
