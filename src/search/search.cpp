#include "search/search.h"

#include <algorithm>
#include <chrono>
#include <queue>
#include <unordered_map>

#include "derive/rule.h"
#include "expr/canonical.h"
#include "expr/print.h"
#include "expr/visit.h"
#include "search/cover.h"
#include "search/settle.h"

namespace ollie::search {
namespace {

using namespace expr;

constexpr int candidates_per_state = 8;
/// Of states that promise the same the shallower comes first.
constexpr double depth_weight = 0.25;
/// Candidates kept that consist of the same calls and kernels, at least.
constexpr size_t candidates_per_kind = 4;

struct State {
    Expr expr;
    std::vector<program::TrailStep> trail;
    int depth = 0;
    double estimate = 0;
    int64_t serial = 0;  ///< Order of creation breaks ties.
};

struct LaterFirst {
    bool operator()(const State& x, const State& y) const {
        return x.estimate != y.estimate ? x.estimate > y.estimate : x.serial > y.serial;
    }
};

bool lets_nonfinite_spread(const std::vector<program::TrailStep>& trail, const Options& options) {
    return std::any_of(trail.begin(), trail.end(), [&](const program::TrailStep& step) {
        return derive::find(step.rule, options.extra_rules)->nonfinite != "exact";
    });
}

class Search {
public:
    Search(const Expr& start, const Options& options)
        : options_(options), matcher_(options), start_(start) {}

    Result run() {
        auto began = std::chrono::steady_clock::now();
        auto elapsed = [&] {
            std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
            return time.count();
        };
        State first{start_, {}, 0, 0, 0};
        first.expr = settle(start_, options_, first.trail, result_.report);
        admit(std::move(first));
        while (!queue_.empty()) {
            if (auto limit = reached_limit(elapsed())) {
                result_.report.ended = *limit;
                break;
            }
            State state = queue_.top();
            queue_.pop();
            expand(state);
        }
        if (result_.report.ended.empty()) result_.report.ended = "exhausted";
        result_.report.seconds = elapsed();
        finish();
        return std::move(result_);
    }

private:
    std::optional<std::string> reached_limit(double seconds) const {
        if (result_.report.states >= options_.states) return "limit on states";
        if (seconds >= options_.seconds) return limit_on_seconds;
        if (start_.arena->bytes() >= options_.bytes) return "limit on bytes";
        if (options_.stop != nullptr && options_.stop->load()) return stopped;
        return std::nullopt;
    }

    /// A state is new, or met with more depth left than before.
    void admit(State state) {
        auto [found, is_new] = memo_.try_emplace(key(state.expr), state.depth);
        if (!is_new) {
            ++result_.report.duplicates;
            if (found->second <= state.depth) return;
            found->second = state.depth;
        } else {
            ++result_.report.states;
            collect(state);
        }
        state.estimate =
            optimistic(state.expr, matcher_, options_) * (1 + depth_weight * state.depth);
        state.serial = next_serial_++;
        queue_.push(std::move(state));
    }

    void collect(const State& state) {
        for (Candidate& candidate : cover(state.expr, matcher_, options_, candidates_per_state)) {
            candidate.trail = state.trail;
            candidate.lets_nonfinite_spread = lets_nonfinite_spread(state.trail, options_);
            result_.candidates.push_back(std::move(candidate));
            ++result_.report.candidates;
        }
        trim(4 * static_cast<size_t>(options_.candidates));
    }

    void expand(const State& state) {
        if (state.depth >= options_.depth || is_empty(state.expr)) return;
        for (const derive::Rule* rule : rules_of(options_)) {
            if (rule->depth_cost == 0) continue;
            for (const derive::Site& site : rule->sites(state.expr)) {
                State next{state.expr, state.trail, state.depth + rule->depth_cost, 0, 0};
                auto derived = step(*rule, state.expr, site, next.trail, result_.report);
                if (!derived) continue;
                next.expr = settle(*derived, options_, next.trail, result_.report);
                admit(std::move(next));
            }
        }
    }

    static void sort(std::vector<Candidate>& candidates) {
        std::stable_sort(
            candidates.begin(), candidates.end(),
            [](const Candidate& x, const Candidate& y) { return x.estimated < y.estimated; });
    }

    /// What a candidate consists of, whatever the names and layouts.
    static std::string kind_of(const Candidate& candidate) {
        std::string kind;
        for (const Piece& piece : candidate.pieces)
            if (piece.kind != Piece::Kind::Constant)
                kind += (piece.kind == Piece::Kind::Call ? piece.call->name : "kernel") + " ";
        return kind;
    }

    /// Sorts, and keeps the best few of each kind.
    void trim(size_t most) {
        if (result_.candidates.size() <= most) return;
        sort(result_.candidates);
        std::map<std::string, size_t> kinds;
        size_t each = std::max(candidates_per_kind, static_cast<size_t>(options_.candidates) / 8);
        std::erase_if(result_.candidates, [&](const Candidate& candidate) {
            return ++kinds[kind_of(candidate)] > each;
        });
    }

    /// The best of each kind first, then the second best of each, and so on.
    void interleave_kinds() {
        std::map<std::string, size_t> kinds;
        std::vector<std::pair<size_t, Candidate>> ranked;
        for (Candidate& candidate : result_.candidates) {
            size_t rank = kinds[kind_of(candidate)]++;
            ranked.emplace_back(rank, std::move(candidate));
        }
        std::stable_sort(ranked.begin(), ranked.end(),
                         [](const auto& x, const auto& y) { return x.first < y.first; });
        result_.candidates.clear();
        for (auto& [rank, candidate] : ranked) result_.candidates.push_back(std::move(candidate));
    }

    void finish() {
        trim(0);
        interleave_kinds();
        if (result_.candidates.size() > static_cast<size_t>(options_.candidates))
            result_.candidates.resize(static_cast<size_t>(options_.candidates));
        sort(result_.candidates);
        result_.report.mismatches = matcher_.mismatches();
    }

    const Options& options_;
    Matcher matcher_;
    Expr start_;
    std::priority_queue<State, std::vector<State>, LaterFirst> queue_;
    std::unordered_map<Key, int> memo_;
    int64_t next_serial_ = 0;
    Result result_;
};

}  // namespace

Result search(const Expr& subprogram, const Options& options) {
    auto arena = std::make_shared<Arena>();
    return Search(copy_to(arena, subprogram), options).run();
}

std::vector<Candidate> direct(const Expr& subprogram, const Options& options) {
    auto arena = std::make_shared<Arena>();
    Report report;
    std::vector<program::TrailStep> trail;
    Expr settled = settle(copy_to(arena, subprogram), options, trail, report);
    Matcher matcher(options);
    std::vector<Candidate> candidates = cover(settled, matcher, options, options.candidates);
    for (Candidate& candidate : candidates) {
        candidate.trail = trail;
        candidate.lets_nonfinite_spread = lets_nonfinite_spread(trail, options);
    }
    return candidates;
}

}  // namespace ollie::search
