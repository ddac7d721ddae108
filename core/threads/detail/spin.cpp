#include "gradus/core/threads/detail/spin.h"

#include <thread>

namespace gradus {

void SpinLock::wait() {
  for (int tries = 0; locked_.load(std::memory_order_relaxed); ++tries)
    if (tries < 100)
      cpu_pause();
    else
      std::this_thread::yield();
}

}  // namespace gradus
