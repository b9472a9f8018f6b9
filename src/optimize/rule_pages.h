#pragma once

#include <string>
#include <vector>

namespace ollie::optimize {

/// What the rule catalogue says of each rule, for front doors.
struct RuleEntry {
    std::string name;
    std::string law;
    std::string conditions;
    std::string pays;
    std::string nonfinite;
    int depth_cost;
};

std::vector<RuleEntry> rule_entries();
/// docs/rules.md
std::string rules_page();
/// Throws UserError if there is no such rule.
void check_rule_name(const std::string&);

}  // namespace ollie::optimize
