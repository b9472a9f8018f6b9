# Files that are no operator stand behind EXCEPT.
ollie_catalogue(FOLDER operators TYPE Operator HEADER operators/operator.h
    NAMESPACE ollie::operators ENTRIES catalogue_entries EXCEPT operator)
