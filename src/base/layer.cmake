ollie_link(OpenMP::OpenMP_CXX)
