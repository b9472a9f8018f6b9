ollie_catalogue(FOLDER operators TYPE Operator HEADER operators/operator.h
    NAMESPACE ollie::operators ENTRIES entries)
