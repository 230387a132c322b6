// Work shared out to threads: torch's own where they can be had, else a small pool that sleeps between jobs.
#pragma once
#include <cstdint>
#include <functional>

namespace hardwire {

// Calls body(task, worker) for each task in [0, tasks), on the calling thread (worker 0) and up to threads - 1 others.
// A second caller while the pool is busy, and a child after fork, are both safe: the work is done, if need be alone.
// An exception of the body reaches the caller once all threads have stopped.
void parallel_for(int threads, std::int64_t tasks, const std::function<void(std::int64_t task, int worker)>& body);

}  // namespace hardwire
