#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/ollie.h"
#include "operators/operator.h"
#include "optimize/rule_pages.h"

namespace ollie::api {

using nlohmann::json;

Report rules() {
    Report report;
    json all = json::array();
    for (const optimize::RuleEntry& rule : optimize::rule_entries()) {
        report.text += fmt::format("{:<20} {}\n{:<20} {}\n", rule.name, rule.law, "", rule.pays);
        all.push_back({{"name", rule.name},
                       {"law", rule.law},
                       {"conditions", rule.conditions},
                       {"pays", rule.pays},
                       {"nonfinite", rule.nonfinite},
                       {"depth_cost", rule.depth_cost}});
    }
    report.json = json{{"rules", all}}.dump(2);
    return report;
}

Report operators() {
    Report report;
    json all = json::array();
    for (const operators::Operator* entry : operators::catalogue()) {
        json names = json::array({entry->name});
        for (const std::string& name : entry->also) names.push_back(name);
        for (const json& name : names)
            report.text += fmt::format("{:<20} since {:>2}  {}\n", name.get<std::string>(),
                                       entry->since, entry->summary);
        all.push_back({{"names", names}, {"since", entry->since}, {"summary", entry->summary}});
    }
    report.json = json{{"operators", all}}.dump(2);
    return report;
}

std::string rules_page() { return optimize::rules_page(); }
std::string operators_page() { return operators::documentation(); }

}  // namespace ollie::api
