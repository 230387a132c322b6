// Memory that grows and is kept: aligned for vectors, and on large pages where the system has them, because rows read
// in random order miss the address cache on small ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hardwire {

class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  // At least `count` elements of T; what was in it before may be gone.
  template <class T>
  T* get(std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (bytes > size_) grow(bytes);
    return static_cast<T*>(data_);
  }

 private:
  static constexpr std::size_t kPage = std::size_t(2) << 20;

  void grow(std::size_t bytes) {
    release();
    alignment_ = bytes >= kPage ? kPage : 64;
    const std::size_t size = (bytes + alignment_ - 1) / alignment_ * alignment_;
    data_ = ::operator new(size, std::align_val_t(alignment_));  // std::aligned_alloc is not on every system
    size_ = size;
#ifdef __linux__
    if (alignment_ == kPage) madvise(data_, size_, MADV_HUGEPAGE);
#endif
  }

  void release() {
    ::operator delete(data_, std::align_val_t(alignment_));
    data_ = nullptr;
    size_ = 0;
  }

  void* data_ = nullptr;
  std::size_t size_ = 0, alignment_ = 64;
};

}  // namespace hardwire
