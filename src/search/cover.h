#pragma once

#include "search/search.h"

namespace ollie::search {

/// Matches definitions against the calls of the backend; parsed patterns and earlier answers are
/// kept, since most definitions occur in many states.
class Matcher {
public:
    explicit Matcher(const Options&);
    ~Matcher();

    /// Ways to compute the definition by one call, best estimate first.
    const std::vector<Piece>& pieces_of(const expr::Tensor* definition);
    /// The least number of mismatches over all calls; 0 if one matches.
    int distance(const expr::Tensor* definition);
    const std::map<std::string, int64_t>& mismatches() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Ways to compute the whole expression: for every definition a call or a kernel, weight-only ones
/// constants; kernels apart and fused. Best estimate first, at most `limit`.
std::vector<Candidate> cover(const expr::Expr&, Matcher&, const Options&, int limit);

/// Optimistic seconds: the best call where one matches, else the floor of the definition.
double optimistic(const expr::Expr&, Matcher&, const Options&);

}  // namespace ollie::search
