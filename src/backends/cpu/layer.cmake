ollie_link(DNNL::dnnl libxsmm::libxsmm)
ollie_catalogue(FOLDER backends/cpu/calls TYPE LibraryCall HEADER backends/cpu/calls.h
    NAMESPACE ollie::backends::cpu ENTRIES calls)
