// Memory that grows and is kept: aligned for vectors, and on large pages where the system has them, because rows read
// in random order miss the address cache on small ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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
  ~Buffer() { std::free(data_); }

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
    const std::size_t alignment = bytes >= kPage ? kPage : 64;
    std::free(data_);
    size_ = (bytes + alignment - 1) / alignment * alignment;
    data_ = std::aligned_alloc(alignment, size_);
    if (!data_) {
      size_ = 0;
      throw std::bad_alloc();
    }
#ifdef __linux__
    if (alignment == kPage) madvise(data_, size_, MADV_HUGEPAGE);
#endif
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hardwire
