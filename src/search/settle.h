#pragma once

#include "derive/rule.h"
#include "search/search.h"

namespace ollie::search {

/// No output has an element: there is nothing to derive.
bool is_empty(const expr::Expr&);

/// Normalizes and applies the rules of depth cost 0 until none has a site; appends what was applied
/// to the trail and counts hits and refusals.
expr::Expr settle(const expr::Expr&, const Options&, std::vector<program::TrailStep>& trail,
                  Report&);
/// The rules of the catalogue and the extra ones, without the disabled ones.
std::vector<const derive::Rule*> rules_of(const Options&);
/// The start of every trail.
expr::Expr normalized(const expr::Expr&);
/// One application, normalized; the step is appended to the trail.
OrRefusal<expr::Expr> step(const derive::Rule&, const expr::Expr&, const derive::Site&,
                           std::vector<program::TrailStep>& trail, Report&);

}  // namespace ollie::search
