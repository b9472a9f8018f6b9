#include "derive/rule.h"

namespace ollie::derive {

const Rule* find(std::string_view name) {
    for (const Rule* rule : catalogue())
        if (rule->name == name) return rule;
    return nullptr;
}

}  // namespace ollie::derive
