#pragma once
// Arrays at any alignment between two fences: reading or writing one element too far ends the test program,
// and writing a few elements outside the array is detected.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

namespace gradus::test {

using I = std::int64_t;

/// Memory between two pages that may not be touched. Kept for the next of its size.
class Fenced {
 public:
  explicit Fenced(std::size_t bytes) : size_((bytes + page() - 1) / page() * page()) {
    std::vector<char*>& free = kept()[size_];
    if (free.empty()) free.push_back(map(size_));
    begin_ = free.back();
    free.pop_back();
  }
  ~Fenced() { kept()[size_].push_back(begin_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  char* begin() const { return begin_; }
  char* end() const { return begin_ + size_; }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::map<std::size_t, std::vector<char*>>& kept() {
    static std::map<std::size_t, std::vector<char*>> blocks;
    return blocks;
  }
  static char* map(std::size_t size) {
    const std::size_t all = size + 2 * page();
    void* const memory = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    char* const begin = static_cast<char*>(memory) + page();
    if (mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) std::abort();
    return begin;
  }
  std::size_t size_;
  char* begin_ = nullptr;
};

/// The offset of an array that begins at the fence in front of it.
inline constexpr I at_front = 16;

/// n values that end `offset` elements before a fence; guard values surround them.
template <class T>
class Guarded {
 public:
  explicit Guarded(I n, I offset = 0) : n_(n), memory_(static_cast<std::size_t>(n + margin) * sizeof(T)) {
    T* const first = reinterpret_cast<T*>(memory_.begin());
    T* const last = reinterpret_cast<T*>(memory_.end());
    data_ = offset == at_front ? first : last - n - offset;
    low_ = data_ - first < margin ? first : data_ - margin;
    high_ = last - (data_ + n) < margin ? last : data_ + n + margin;
    for (T* p = low_; p < high_; ++p) *p = guard;
  }
  Guarded(const std::vector<T>& values, I n, I offset) : Guarded(n, offset) {
    for (I i = 0; i < n; ++i) data_[i] = values[static_cast<std::size_t>(i)];
  }
  T* data() { return data_; }
  T& operator[](I i) { return data_[i]; }
  bool intact() const {
    for (const T* p = low_; p < data_; ++p)
      if (*p != guard) return false;
    for (const T* p = data_ + n_; p < high_; ++p)
      if (*p != guard) return false;
    return true;
  }

 private:
  static constexpr I margin = 64;
  static constexpr T guard = 77;
  I n_;
  Fenced memory_;
  T *data_, *low_, *high_;  // the values; where guards and values begin and end
};

}  // namespace gradus::test
