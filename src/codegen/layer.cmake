ollie_link(Halide::Halide)
