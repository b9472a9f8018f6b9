ollie_catalogue(FOLDER derive/rules TYPE Rule HEADER derive/rule.h
    NAMESPACE ollie::derive ENTRIES rules)
