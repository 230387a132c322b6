#include "threads.hpp"

#ifndef _WIN32
#include <dlfcn.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace hardwire {

namespace {

#ifdef _WIN32
using Process = int;
Process this_process() { return 0; }  // nothing forks here
#else
using Process = pid_t;
Process this_process() { return getpid(); }
#endif

struct Job {
  const std::function<void(std::int64_t, int)>* body;
  std::int64_t tasks;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> workers{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure{};

  void join() { work(workers.fetch_add(1, std::memory_order_relaxed)); }

  // Memory may run out in any thread, and an exception that leaves a thread ends the process: the first one is kept for
  // the caller, and nobody starts another task.
  void work(int worker) {
    try {
      for (std::int64_t task; !failed && (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;)
        (*body)(task, worker);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
};

class Pool {
 public:
  // False if another caller has the pool.
  bool run(int threads, Job& job) {
    std::unique_lock<std::mutex> owner(owner_, std::try_to_lock);
    if (!owner) return false;
    const int helpers = threads - 1;
    for (; started_ < helpers; ++started_) std::thread(&Pool::serve, this, started_ + 1).detach();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      job_ = &job;
      invited_ = helpers;
      busy_ = helpers;
      ++generation_;
    }
    wake_.notify_all();
    job.work(0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    return true;
  }

 private:
  void serve(int worker) {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return generation_ != seen && (worker <= invited_); });
      seen = generation_;
      Job* job = job_;
      lock.unlock();
      job->work(worker);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex owner_, mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  std::uint64_t generation_ = 0;
  int started_ = 0, invited_ = 0, busy_ = 0;
};

// One pool a process, never destroyed: its threads sleep until the process ends. A forked child has none of its
// parent's threads, so it starts a pool of its own.
Pool& pool() {
  static std::mutex mutex;
  static Pool* current = nullptr;
  static Process owner = 0;
  std::lock_guard<std::mutex> lock(mutex);
  if (!current || owner != this_process()) {
    current = new Pool;
    owner = this_process();
  }
  return *current;
}

// torch's own threads, where it uses GNU OpenMP: they spin for a while after each of torch's operations, and a second
// pool would fight them for the cores. We link to no OpenMP; we ask for the one that is already loaded. Its threads do
// not survive a fork, so a child makes do with our pool.
using OpenMpParallel = void (*)(void (*)(void*), void*, unsigned threads, unsigned flags);

// Noted when the module is loaded, not on first use: that may already be in a child.
const Process first = this_process();

OpenMpParallel torch_threads() {
#ifdef _WIN32
  return nullptr;  // torch brings another OpenMP there
#else
  static const auto parallel = reinterpret_cast<OpenMpParallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  return this_process() == first ? parallel : nullptr;
#endif
}

}  // namespace

void parallel_for(int threads, std::int64_t tasks, const std::function<void(std::int64_t, int)>& body) {
  Job job{&body, tasks};
  if (threads <= 1 || tasks <= 1) {
    job.work(0);
  } else if (const OpenMpParallel parallel = torch_threads()) {
    // all of them, even for few tasks: OpenMP ends the threads that a smaller team leaves over, and starts them again
    parallel([](void* data) { static_cast<Job*>(data)->join(); }, &job, threads, 0);
  } else if (!pool().run(threads, job)) {
    job.work(0);
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace hardwire
