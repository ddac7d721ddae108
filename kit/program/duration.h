#pragma once
// Times for people to read.

#include <optional>
#include <string>

namespace gradus::kit {

/// Seconds in words, two units at most: "0.4 s", "12 s", "3 min 20 s", "2 h 05 min", "3 d 4 h".
std::string human_duration(double seconds);

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
