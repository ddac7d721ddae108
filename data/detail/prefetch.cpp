#include "gradus/data/detail/prefetch.h"

#include <utility>

#include "gradus/core/detail/error_calls.h"
#include "gradus/core/threads/parallel.h"

namespace gradus::data::detail {

Prefetch::Prefetch(std::int64_t begin, std::int64_t end, std::int64_t ahead, MakeBatch make)
    : make_(std::move(make)),
      end_(end),
      ring_(static_cast<std::size_t>(ahead)),
      made_(begin),
      taken_(begin),
      thread_([this] { run(); }) {}

Prefetch::~Prefetch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  thread_.join();
}

void Prefetch::run() {
  const SingleThread alone;  // leaves the pool to the training thread
  const auto ahead = static_cast<std::int64_t>(ring_.size());
  for (std::int64_t number = made_;  // only this thread writes it
       number < end_; ++number) {
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return stop_ || number - taken_ < ahead; });
      if (stop_) return;
    }
    Place made;
    try {
      made.batch = make_(number, stop_);
    } catch (...) {
      made.error = std::current_exception();
    }
    const bool failed = made.error != nullptr;
    {
      const std::lock_guard lock(mutex_);
      place(number) = std::move(made);
      made_ = number + 1;
    }
    news_.notify_all();
    if (failed) return;
  }
}

std::vector<Tensor> Prefetch::next() {
  Place taken;
  {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return made_ > taken_; });
    taken = std::move(place(taken_++));
  }
  news_.notify_all();
  if (taken.error) ErrorCalls::rethrow(taken.error);
  return std::move(taken.batch);
}

}  // namespace gradus::data::detail
