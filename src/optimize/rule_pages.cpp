#include "optimize/rule_pages.h"

#include <fmt/format.h>

#include "base/error.h"
#include "derive/rule.h"

namespace ollie::optimize {

std::vector<RuleEntry> rule_entries() {
    std::vector<RuleEntry> entries;
    for (const derive::Rule* rule : derive::catalogue())
        entries.push_back({rule->name, rule->law, rule->conditions, rule->pays, rule->nonfinite,
                           rule->depth_cost});
    return entries;
}

std::string rules_page() {
    std::string page =
        "# Rules\n\nWritten by `ollie rules --markdown` from the files in `src/derive/rules`.\n"
        "Rules of depth cost 0 are applied wherever they can be; the others are what the search "
        "chooses among.\n";
    for (const derive::Rule* rule : derive::catalogue()) {
        page += fmt::format(
            "\n## {}\n\n    {}\n\n{}\n{}\n\nNon-finite values: {}. Depth cost: {}.\n", rule->name,
            rule->law, rule->conditions, rule->pays, rule->nonfinite, rule->depth_cost);
        for (const derive::Example& example : rule->examples) {
            page += "\n```\n" + example.before + "```\n";
            page += example.after.empty() ? "is refused: " + example.refusal + ".\n"
                                          : "becomes\n```\n" + example.after + "```\n";
        }
    }
    return page;
}

void check_rule_name(const std::string& name) {
    if (derive::find(name) != nullptr) return;
    std::string known;
    for (const derive::Rule* rule : derive::catalogue())
        known += (known.empty() ? "" : ", ") + rule->name;
    throw_user_error("there is no rule \"{}\"; the rules are {}", name, known);
}

}  // namespace ollie::optimize
