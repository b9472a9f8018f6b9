#include "base/parallel.h"

#include <exception>
#include <mutex>

#include <omp.h>

namespace ollie {

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
    if (count <= 1 || omp_in_parallel() != 0 || threads() == 1) {
        for (int64_t i = 0; i < count; ++i) body(i);
        return;
    }
    std::exception_ptr failure;
    std::mutex mutex;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < count; ++i) {
        try {
            body(i);
        } catch (...) {
            std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

void for_each_thread(const std::function<void(int)>& body) {
#pragma omp parallel
    body(omp_get_thread_num());
}

int threads() { return omp_get_max_threads(); }

void set_threads(int count) { omp_set_num_threads(count < 1 ? 1 : count); }

}  // namespace ollie
