ollie_catalogue(FOLDER backends/reference/calls TYPE LibraryCall HEADER backends/reference/calls.h
    NAMESPACE ollie::backends::reference ENTRIES calls)
