#include <algorithm>

#include "derive/rule.h"
#include "derive/scope.h"

namespace ollie::derive::rules {
namespace {

using namespace expr;

/// Reads inside sums whose accesses combine iterators: what im2col lays out.
std::vector<Scalar> candidates(const Tensor* definition) {
    std::vector<Scalar> found;
    for (Scalar reduction : reductions_of(definition->body, Monoid::Sum))
        for (Scalar read : reads_of(reduction->operands[0]))
            if (!is_plain_read(read) && !is_weight_only(read) &&
                std::find(found.begin(), found.end(), read) == found.end())
                found.push_back(read);
    return found;
}

std::vector<Site> sites(const Expr& expr) {
    std::vector<Site> found;
    for (const Tensor* definition : definitions_of(expr)) {
        if (is_weight_only(definition)) continue;
        std::vector<Scalar> reads = candidates(definition);
        for (size_t i = 0; i < reads.size(); ++i)
            found.push_back({definition,
                             definition->name + ": " + reads[i]->tensor->name,
                             "a definition over the iterators of its access",
                             {static_cast<int64_t>(i)}});
    }
    return found;
}

OrRefusal<Expr> apply(const Expr& expr, const Site& site) {
    Scalar read = candidates(site.definition)[site.values[0]];
    Scalar laid_out =
        extracted(expr, read, scope_of(site.definition), read->tensor->name + "_windows",
                  read->tensor->type, site.definition->origin);
    return with_new_body(expr, site.definition,
                         replace_node(site.definition->body, read, laid_out));
}

}  // namespace

extern const Rule extract{
    "extract",
    "L[x] sum[y] f(T[phi(x, y)], ...) = L[x] sum[y] f({ L[x, y] T[phi(x, y)] }[x, y], ...)",
    "The read is inside a sum and its access is more than distinct iterators.",
    "Lays windows out so that the sum becomes a plain product (im2col).",
    "exact",
    1,
    sites,
    apply,
    {{"input A: f32[8, 4]\nweight K: f32[4, 3, 5]\n"
      "output Y: f32[h:6, f:5] = sum[c:4, r:3] A[h + r, c] * K[c, r, f]\n",
      "",
      "input A: f32[8, 4]\nweight K: f32[4, 3, 5]\n"
      "pinned A_windows: f32[h:6, c:4, r:3] = A[h + r, c]\n"
      "output Y: f32[h:6, f:5] = sum[c:4, r:3] A_windows[h, c, r] * K[c, r, f]\n",
      ""}}};

}  // namespace ollie::derive::rules
