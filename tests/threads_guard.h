#pragma once

#include "gradus/core/threads/parallel.h"

namespace gradus::test {

/// A number of threads for one scope.
struct ThreadsGuard {
  explicit ThreadsGuard(int threads) { set_num_threads(threads); }
  ~ThreadsGuard() { set_num_threads(before); }
  int before = num_threads();
};

}  // namespace gradus::test
