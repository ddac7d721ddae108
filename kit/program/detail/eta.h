#pragma once
// How long the rest of a job will take.

#include <optional>

namespace gradus::kit {

/// Estimates the time left from work done so far. Work is any number that grows evenly with time: steps, or
/// steps x layers where runs differ in size.
class Eta {
 public:
  /// `total` work, starting at time `now` (seconds of any steady clock).
  Eta(double total, double now);

  /// `done` work of the total is finished at time `now`.
  void update(double done, double now);

  double total() const { return total_; }
  double done() const { return done_; }
  double elapsed() const { return last_ - start_; }
  /// Seconds left; nothing before there is something to judge by.
  std::optional<double> remaining() const;

 private:
  double total_;
  double start_;
  double last_;
  double done_ = 0;
  double recent_work_ = 0;  // both fade with age, so that their ratio is the speed of the last minute or so
  double recent_time_ = 0;
};

}  // namespace gradus::kit
