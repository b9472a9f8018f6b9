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

bool lets_nonfinite_spread(const std::vector<program::TrailStep>& trail) {
    return std::any_of(trail.begin(), trail.end(), [](const program::TrailStep& step) {
        return derive::find(step.rule)->nonfinite != "exact";
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
        if (seconds >= options_.seconds) return "limit on seconds";
        if (start_.arena->bytes() >= options_.bytes) return "limit on bytes";
        if (options_.stop != nullptr && options_.stop->load()) return "stopped";
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
        state.estimate = optimistic(state.expr, matcher_, options_);
        state.serial = next_serial_++;
        queue_.push(std::move(state));
    }

    void collect(const State& state) {
        for (Candidate& candidate : cover(state.expr, matcher_, options_, candidates_per_state)) {
            candidate.trail = state.trail;
            candidate.lets_nonfinite_spread = lets_nonfinite_spread(state.trail);
            result_.candidates.push_back(std::move(candidate));
            ++result_.report.candidates;
        }
        trim(4 * static_cast<size_t>(options_.candidates));
    }

    void expand(const State& state) {
        if (state.depth >= options_.depth) return;
        for (const derive::Rule* rule : derive::catalogue()) {
            if (rule->depth_cost == 0 || options_.disabled_rules.contains(rule->name)) continue;
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
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Candidate& x, const Candidate& y) {
                             return x.estimated < y.estimated;
                         });
    }

    void trim(size_t most) {
        if (result_.candidates.size() <= 2 * most) return;
        sort(result_.candidates);
        result_.candidates.resize(most);
    }

    void finish() {
        sort(result_.candidates);
        if (result_.candidates.size() > static_cast<size_t>(options_.candidates))
            result_.candidates.resize(static_cast<size_t>(options_.candidates));
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
        candidate.lets_nonfinite_spread = lets_nonfinite_spread(trail);
    }
    return candidates;
}

}  // namespace ollie::search
