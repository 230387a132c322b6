#include "threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace hardwire {

namespace {

struct Job {
  const std::function<void(std::int64_t, int)>* body;
  std::int64_t tasks;
  std::atomic<std::int64_t> next{0};

  void work(int worker) {
    for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) (*body)(task, worker);
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
  static pid_t owner = 0;
  std::lock_guard<std::mutex> lock(mutex);
  if (!current || owner != getpid()) {
    current = new Pool;
    owner = getpid();
  }
  return *current;
}

}  // namespace

void parallel_for(int threads, std::int64_t tasks, const std::function<void(std::int64_t, int)>& body) {
  threads = static_cast<int>(std::min<std::int64_t>(threads, tasks));
  Job job{&body, tasks};
  if (threads <= 1 || !pool().run(threads, job)) job.work(0);
}

}  // namespace hardwire
