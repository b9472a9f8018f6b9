#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/call.h"
#include "derive/rule.h"
#include "expr/node.h"
#include "match/pattern.h"
#include "program/program.h"

/// Explores what can be derived from an expression and maps the pieces onto calls and kernels.
///
/// States are normalized expressions; moves are rules at places. Rules of depth cost 0 are applied
/// eagerly to a fixed point after every move. The queue is ordered by an optimistic estimate; the
/// memo is by (key, remaining depth), so that no state is lost by having been met deeper before.
/// Deterministic for limits counted in states.
namespace ollie::search {

struct Options {
    int depth = 6;            ///< Rule applications of cost 1.
    int64_t states = 3000;    ///< Per subprogram.
    double seconds = 10;      ///< Per subprogram; the one limit that is not deterministic.
    int64_t bytes = 1 << 30;  ///< Of the arena.
    int candidates = 32;      ///< Returned at most.
    std::set<std::string> disabled_rules;
    std::vector<const derive::Rule*> extra_rules;  ///< Besides the catalogue's.
    match::Machine machine;
    std::vector<const backends::LibraryCall*> calls;
    /// Asked now and then; true ends the search with what there is.
    const std::atomic<bool>* stop = nullptr;
};

/// How one definition (or group of definitions) of a derived expression is computed.
struct Piece {
    enum class Kind { Constant, Call, Kernel };
    Kind kind = Kind::Kernel;
    /// Constant: one. Call: those of its pattern, mostly one. Kernel: some. Producers first; only
    /// the last is visible outside.
    std::vector<const expr::Tensor*> definitions;
    const backends::LibraryCall* call = nullptr;
    match::Binding binding;       ///< Call
    backends::CallChoice choice;  ///< Call
    double estimated = 0;         ///< Seconds.
};

struct Candidate {
    expr::Expr expr;            ///< The derived expression, normalized.
    std::vector<Piece> pieces;  ///< In order of execution.
    double estimated = 0;
    std::vector<program::TrailStep> trail;
    bool lets_nonfinite_spread = false;
    /// "onednn_matmul + kernel": what it comes down to.
    std::string summary() const;
};

/// What ends a search because the user wants it.
inline constexpr const char* limit_on_seconds = "limit on seconds";
inline constexpr const char* stopped = "stopped";

struct Report {
    int64_t states = 0;
    int64_t duplicates = 0;
    int64_t candidates = 0;
    double seconds = 0;
    std::string ended;  ///< "exhausted", or which limit.
    std::map<std::string, int64_t> rule_hits;
    std::map<std::string, int64_t> refusals;    ///< By rule.
    std::map<std::string, int64_t> mismatches;  ///< By call and kind.
};

struct Result {
    std::vector<Candidate> candidates;  ///< Best estimate first; distinct.
    Report report;
};

Result search(const expr::Expr& subprogram, const Options&);

/// The candidates of the expression itself after the rules of depth cost 0: what one gets with one
/// best library call per contraction, normalization folded and epilogues fused.
std::vector<Candidate> direct(const expr::Expr& subprogram, const Options&);

}  // namespace ollie::search
