#pragma once

#include <cstdint>
#include <functional>

namespace ollie {

/// The one parallel loop: everything that runs in parallel goes through it. It uses the OpenMP
/// team that oneDNN and the generated kernels use too. `body(i)` is called once for every
/// i in [0, count), in any order, from at most `threads()` threads. An exception thrown by a body
/// is rethrown on the calling thread after the loop. Inside a parallel loop it runs serially.
void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

/// Calls body(t) once on every thread t of the team, at once: for what belongs to a thread, such as
/// the processor it is bound to. The body does not throw.
void for_each_thread(const std::function<void(int)>& body);

/// The number of threads of the calling thread's team; 1 at least.
int threads();
void set_threads(int count);

}  // namespace ollie
