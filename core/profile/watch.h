#pragma once
// Instrumentation: ops report their work here, and a Profile (core/profile/profile.h) records it. Costs one
// comparison when no profile is active.

#include <span>

#include "gradus/core/cxx20.h"

namespace gradus {

class Array;
class Gradient;
class Tensor;

namespace detail {
class Watcher {
 public:
  virtual void op_ends(const char* op, const Array& out, std::span<const Tensor* const> inputs) = 0;
  virtual void backward_ends(const char* op, const char* label, const Array& dy,
                             std::span<const Gradient> grads) = 0;
  /// Work since the last op belongs to no op.
  virtual void end_lap() = 0;
  virtual void begin_range(const char* name, const char* own) = 0;
  virtual void end_range() = 0;
  virtual void add_work(double flops, double bytes) = 0;

 protected:
  ~Watcher() = default;
};
/// This thread's watcher, or null.
inline constinit thread_local Watcher* watcher = nullptr;
}  // namespace detail

/// A part of the program with its own row in the profile: `{ ProfileRange range("batch"); ... }`
/// The name must stay valid: a literal, or intern(text).
class ProfileRange {
 public:
  /// `own`: the row charged for its own time, if not its name.
  [[nodiscard("give it a name: it works until the end of its scope")]] explicit ProfileRange(
      const char* name, const char* own = nullptr)
      : watcher_(detail::watcher) {
    if (watcher_) [[unlikely]]
      watcher_->begin_range(name, own ? own : name);
  }
  ~ProfileRange() {
    if (watcher_ && watcher_ == detail::watcher) [[unlikely]]  // else its Profile has gone before it
      watcher_->end_range();
  }
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;

 private:
  detail::Watcher* watcher_;
};

/// For custom ops: adds to the floating-point operations of the running op.
inline void count_flops(double flops) {
  if (detail::watcher) [[unlikely]]
    detail::watcher->add_work(flops, 0);
}
/// Adds to the bytes the running op has read and written, which replace the count of its inputs and output.
inline void count_bytes(double bytes) {
  if (detail::watcher) [[unlikely]]
    detail::watcher->add_work(0, bytes);
}

}  // namespace gradus
