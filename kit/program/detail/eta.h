#pragma once
// Eta: estimates the remaining time of a job.

#include <optional>

namespace gradus::kit {

/// Estimates the remaining time from the work done so far. Work is any number that grows linearly with time:
/// steps, or steps x layers if runs differ in size.
class Eta {
 public:
  /// Starts `total` work at time `now` (seconds of any steady clock).
  Eta(double total, double now);

  /// Reports that `done` of the total work is finished at time `now`.
  void update(double done, double now);

  double total() const { return total_; }
  double done() const { return done_; }
  double elapsed() const { return last_ - start_; }
  /// The remaining seconds; nullopt if there is no data yet.
  std::optional<double> remaining() const;

 private:
  double total_;
  double start_;
  double last_;
  double done_ = 0;
  double recent_work_ = 0;  // both decay, so that their ratio is the speed of about the last minute
  double recent_time_ = 0;
};

}  // namespace gradus::kit
