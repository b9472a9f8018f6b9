#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "backends/reference/calls.h"
#include "derive/scope.h"
#include "expr/visit.h"
#include "optimize/solve.h"

namespace ollie::optimize {
namespace {

using namespace expr;
using search::Piece;

Piece evaluated(const Tensor* definition) {
    const backends::LibraryCall* call = backends::reference::catalogue().front();
    Piece piece{Piece::Kind::Call, {definition}, call, {}, {}, 0};
    piece.binding.definition = definition;
    piece.choice = call->choices(piece.binding)->front();
    piece.estimated = call->estimate(piece.binding, piece.choice, {});
    return piece;
}

/// The problem as it is; a kernel for each definition, but those that must be evaluated.
std::unique_ptr<LastResort> resort_of(const Expr& problem,
                                      const std::set<const Tensor*>& to_evaluate) {
    auto last = std::make_unique<LastResort>();
    last->candidate.expr = problem;
    for (const Tensor* definition : definitions_of(problem)) {
        if (derive::is_weight_only(definition)) continue;
        Piece kernel{Piece::Kind::Kernel, {definition}, nullptr, {}, {}, 0};
        last->candidate.pieces.push_back(to_evaluate.contains(definition) ? evaluated(definition)
                                                                          : std::move(kernel));
        last->candidate.estimated += last->candidate.pieces.back().estimated;
    }
    Constants constants;
    auto fragment = build_fragment(last->candidate, false, constants);
    CHECK(bool(fragment), "{}", fragment.reason());
    last->fragment = std::move(*fragment);
    return last;
}

std::set<const Tensor*> without_kernel(const LastResort& last, const KernelLibrary& library) {
    std::set<const Tensor*> found;
    size_t next = 0;
    for (const Piece& piece : last.candidate.pieces) {
        if (piece.kind != Piece::Kind::Kernel) continue;
        const auto& variants = library.variants(last.fragment.kernels[next++].problem);
        bool compiles = std::any_of(variants.begin(), variants.end(),
                                    [](const Variant& v) { return !v.object.empty(); });
        if (!compiles) found.insert(piece.definitions.front());
    }
    return found;
}

std::unique_ptr<LastResort> by_kernels(const Expr& problem, KernelLibrary& library) {
    std::set<const Tensor*> impossible;
    for (const Tensor* definition : definitions_of(problem))
        if (!codegen::can_generate(isolate({definition}, {definition})))
            impossible.insert(definition);
    auto last = resort_of(problem, impossible);
    for (const Kernel& kernel : last->fragment.kernels) library.add(kernel.problem);
    library.compile();
    impossible.merge(without_kernel(*last, library));
    last = resort_of(problem, impossible);
    CHECK(bool(library.choose(last->fragment)), "a kernel is gone");
    return last;
}

std::unique_ptr<LastResort> by_evaluation(const Expr& problem) {
    std::vector<const Tensor*> all = definitions_of(problem);
    return resort_of(problem, {all.begin(), all.end()});
}

std::string nodes_of(const Expr& problem) {
    Origin origin;
    for (const Tensor* definition : definitions_of(problem))
        origin = merge(origin, definition->origin);
    return fmt::format("{}", fmt::join(origin, ", "));
}

bool has_way(const Solution& solution) {
    auto is_open = [](const Fragment& fragment) { return !fragment.refused; };
    return std::any_of(solution.unoptimized.begin(), solution.unoptimized.end(), is_open) ||
           std::any_of(solution.last_resorts.begin(), solution.last_resorts.end(),
                       [&](const auto& last) { return is_open(last->fragment); });
}

constexpr size_t most_resorts = 2;

}  // namespace

std::vector<std::string> make_last_resorts(Solutions& solutions, KernelLibrary& library) {
    std::vector<std::string> notes;
    for (auto& solution : solutions.distinct) {
        if (has_way(*solution) || solution->last_resorts.size() == most_resorts) continue;
        const Expr& problem = solution->problem;
        solution->last_resorts.push_back(
            solution->last_resorts.empty() ? by_kernels(problem, library) : by_evaluation(problem));
        notes.push_back(fmt::format("{}: {}, since no other way is left: {}", nodes_of(problem),
                                    solution->last_resorts.back()->candidate.summary(),
                                    fmt::join(solution->lost, "; ")));
    }
    return notes;
}

bool is_last_resort_of_all(const Solution& solution, const Fragment& fragment) {
    return solution.last_resorts.size() == most_resorts &&
           &fragment == &solution.last_resorts.back()->fragment;
}

}  // namespace ollie::optimize
