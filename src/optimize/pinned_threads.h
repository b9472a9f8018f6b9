#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace ollie::optimize {

/// Runs body(i) on a thread of its own for every processor, bound to processors[i], and starts all
/// of them at one moment. For tests of the machine, which must not disturb the team of the
/// parallel loop.
void run_pinned(std::span<const int> processors, const std::function<void(size_t)>& body);

/// Binds the calling thread to one processor, as far as the system lets it.
void pin_this_thread(int processor);

/// The floating-point operations of one call on the calling thread: some microseconds of vector
/// multiply-adds that stay in registers.
int64_t multiply_add();

/// Reads all elements once; the sum keeps the compiler from leaving that out.
float read_all(std::span<const float> elements);

}  // namespace ollie::optimize
