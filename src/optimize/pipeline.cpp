#include "optimize/pipeline.h"

#include <map>

#include "base/parallel.h"
#include "express/express.h"
#include "onnx/onnx.h"
#include "optimize/assemble.h"
#include "optimize/blame.h"
#include "optimize/prove.h"
#include "optimize/record.h"
#include "optimize/select.h"
#include "optimize/stopwatch.h"
#include "optimize/times.h"
#include "optimize/timing.h"
#include "refine/refine.h"

namespace ollie::optimize {
namespace {

/// Everything that the phases pass on.
class Pipeline {
public:
    Pipeline(const std::filesystem::path& model, const Options& options, const Progress& progress)
        : options_(options),
          watch_(progress, outcome_.phase_seconds),
          times_(options),
          machine_(times_.machine()),
          limits_(search_options(options, machine_)),
          library_(options, times_) {
        watch_.phase("read");
        graph_ = onnx::read(model, {options.shapes});
        watch_.phase("express");
        whole_ = express::express(graph_);
        subprograms_ = express::cut(whole_);
    }

    void solve(Search search) {
        watch_.phase("derive");
        solutions_ = derive(subprograms_, limits_, search);
        instantiate(solutions_, options_, library_);
        watch_.phase("compile");
        library_.compile();
        watch_.phase("measure");
        measure(solutions_, times_, library_);
        if (times_.knows_any() && !is_stopped()) tune();
        admit_unoptimized(solutions_);
    }

    /// Other schedules for the kernels of the best.
    void tune() {
        widen(solutions_, library_);
        watch_.phase("compile");
        library_.compile();
        watch_.phase("measure");
        library_.measure();
        measure_widened(solutions_, times_, library_);
    }

    program::Program assembled(const Selection& selection) {
        return refine::refine(assemble(whole_, subprograms_, solutions_, selection, library_));
    }

    /// The best selection all of whose derivations are proved.
    Selection proved(Among among) {
        watch_.phase("prove");
        for (;;) {
            note(make_last_resorts(solutions_, library_));
            Selection selection = select(subprograms_, solutions_, among, machine_);
            auto refusals = prove(selection.fragments, solutions_, proofs_);
            if (refusals.empty()) return selection;
            note(refusals);
        }
    }

    Outcome run() {
        solve(Search::Yes);
        Selection plain = proved(Among::Unoptimized);
        outcome_.unoptimized = assembled(plain);
        Selection best = proved(Among::Optimized);
        finish(plain, best);
        note_limits();
        record(outcome_, subprograms_, solutions_, best, plain, proofs_, options_);
        watch_.finish();
        for (const std::string& note : times_.notes()) outcome_.notes.push_back(note);
        outcome_.times_measured = times_.measured();
        outcome_.times_known = times_.known();
        return std::move(outcome_);
    }

    program::Program run_unoptimized() {
        solve(Search::No);
        return assembled(proved(Among::Unoptimized));
    }

private:
    /// Verifies and compares; what fails or is slower gives way to the unoptimized program.
    void finish(Selection& plain, Selection& best) {
        bool fails = !make_right(plain, best);
        watch_.phase("compare");
        if (!fails && options_.measure) fails = is_slower();
        if (!fails) return;
        best = plain;
        outcome_.program = outcome_.unoptimized;
        outcome_.seconds = outcome_.unoptimized_seconds;
        if (!is_right(best))
            throw_user_error("the model could not be compiled correctly: {}",
                             outcome_.verification.failures.front());
    }

    /// Assembles and verifies the best selection. Where it is wrong, what is to blame is refused
    /// and the next best takes its place, some times.
    bool make_right(Selection& plain, Selection& best) {
        constexpr size_t rounds = 6;
        Blame blame(subprograms_, solutions_, library_, options_);
        for (size_t round = 0; round < rounds; ++round) {
            outcome_.program = assembled(best);
            watch_.phase("verify");
            bool right = is_right(best);
            if (right && !outcome_.verification.calls_changed_nonfinite) return true;
            if (right && !replace(best, Among::Optimized,
                                  [&] { return blame.refuse_changed_nonfinite(best); }))
                return true;
            if (right) continue;
            note_failures();
            if (is_stopped()) return false;
            if (!replace_wrong(blame, plain, best, size_t{1} << round)) return false;
        }
        return false;
    }

    /// Whether something could be replaced: parts that are wrong by themselves, of the unoptimized
    /// program first since all others are held against it, or else the `count` least exact ones.
    bool replace_wrong(Blame& blame, Selection& plain, Selection& best, size_t count) {
        bool plain_changed =
            outcome_.verification.unoptimized_is_wrong &&
            replace(plain, Among::Unoptimized, [&] { return blame.refuse_wrong(plain, plain); });
        if (plain_changed) outcome_.unoptimized = assembled(plain);
        best = proved(Among::Optimized);
        if (replace(best, Among::Optimized, [&] { return blame.refuse_wrong(best, plain); }))
            return true;
        if (plain_changed) return true;
        auto notes = blame.refuse_least_exact(best, plain, count);
        note(notes);
        best = proved(Among::Optimized);
        return !notes.empty();
    }

    /// Selects anew as long as something is refused of the selection; whether anything was.
    template <class Refuse>
    bool replace(Selection& selection, Among among, Refuse refuse_some) {
        bool changed = false;
        for (;;) {
            std::vector<std::string> notes = refuse_some();
            if (notes.empty()) return changed;
            note(notes);
            changed = true;
            selection = proved(among);
        }
    }

    bool is_right(const Selection& selection) {
        outcome_.verification = verify(whole_, outcome_.program, outcome_.unoptimized, options_,
                                       nonfinite_may_spread(selection));
        return outcome_.verification.failures.empty();
    }

    void note(const std::vector<std::string>& notes) {
        outcome_.notes.insert(outcome_.notes.end(), notes.begin(), notes.end());
    }

    void note_failures() {
        for (const std::string& failure : outcome_.verification.failures)
            outcome_.notes.push_back("verification failed: " + failure);
    }

    bool is_stopped() const { return options_.stop != nullptr && options_.stop->load(); }

    /// Limits that the user set: seconds, and the wish to stop. Those on states are the search's
    /// own and stand in each derivation.
    void note_limits() {
        std::map<std::string, int> reached;
        for (const auto& solution : solutions_.distinct) {
            const std::string& ended = solution->searched.report.ended;
            if (ended == search::limit_on_seconds || ended == search::stopped) ++reached[ended];
        }
        for (const auto& [limit, count] : reached)
            outcome_.notes.push_back(
                fmt::format("{}: the search of {} of {} subprograms ended early", limit, count,
                            solutions_.distinct.size()));
        outcome_.limit_reached = !reached.empty() || is_stopped();
    }

    bool is_slower() {
        constexpr int tries = 3;
        constexpr double tolerance = 1.03;
        for (int i = 0; i < tries; ++i) {
            auto [ours, theirs] = compare_seconds(outcome_.program, outcome_.unoptimized);
            outcome_.seconds = ours;
            outcome_.unoptimized_seconds = theirs;
            if (ours <= theirs * tolerance) return false;
        }
        outcome_.notes.push_back("the derived program was not faster than the unoptimized one");
        return true;
    }

    static bool nonfinite_may_spread(const Selection& selection) {
        for (const Fragment* fragment : selection.fragments)
            if (fragment->candidate->lets_nonfinite_spread) return true;
        return false;
    }

    const Options& options_;
    Outcome outcome_;
    Stopwatch watch_;
    Times times_;
    match::Machine machine_;
    search::Options limits_;
    KernelLibrary library_;
    graph::Graph graph_;
    expr::Expr whole_;
    std::vector<express::Subprogram> subprograms_;
    Solutions solutions_;
    Proofs proofs_;
};

}  // namespace

Outcome optimize(const std::filesystem::path& model, const Options& options,
                 const Progress& progress) {
    if (options.threads > 0) set_threads(options.threads);
    return Pipeline(model, options, progress).run();
}

program::Program compile_unoptimized(const std::filesystem::path& model, const Options& options) {
    if (options.threads > 0) set_threads(options.threads);
    return Pipeline(model, options, {}).run_unoptimized();
}

}  // namespace ollie::optimize
