#include "lab/study/side_by_side.h"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "gradus/core/threads/parallel.h"

namespace gradus::lab {

void side_by_side(std::int64_t threads, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr error;
  const auto guarded = [&] {
    const SingleThread guard;
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  try {
    for (std::int64_t i = 1; i < threads; ++i) others.emplace_back(guarded);
  } catch (const std::system_error&) {
    // The system allows no more threads: those there are do all of the work.
  }
  guarded();
  others.clear();  // waits for them
  if (error) std::rethrow_exception(error);
}

}  // namespace gradus::lab
