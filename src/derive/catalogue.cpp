#include "derive/rule.h"

namespace ollie::derive {

const Rule* find(std::string_view name, const std::vector<const Rule*>& more) {
    for (const auto* rules : {&catalogue(), &more})
        for (const Rule* rule : *rules)
            if (rule->name == name) return rule;
    return nullptr;
}

}  // namespace ollie::derive
