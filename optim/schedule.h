#pragma once
// Learning-rate schedules: a rate is a number or a function of the step. Steps count from 1, the first
// update.

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "gradus/core/cxx20.h"

namespace gradus::optim {

/// A learning rate as a function of the step. A schedule is an ordinary value: call it, plot it, share it.
/// `Schedule lr = warmup_linear(3e-4, 400); lr(1);  // 7.5e-07`
class Schedule {
 public:
  Schedule(double rate);  // checked by its user, whose messages name it
  template <std::invocable<std::int64_t> F>
  Schedule(F rate) : rate_(std::make_shared<const Function>(std::move(rate))) {}

  /// The rate of update number `step`; throws when that is not 1 or more.
  double operator()(std::int64_t step) const;
  /// The rate if it is known to be the same at every step.
  std::optional<double> fixed() const { return fixed_; }
  /// True for copies of one function, and for equal numbers.
  friend bool operator==(const Schedule& a, const Schedule& b) {
    return a.rate_ == b.rate_ || (a.fixed_ && a.fixed_ == b.fixed_);
  }

 private:
  using Function = std::function<double(std::int64_t)>;
  std::shared_ptr<const Function> rate_;
  std::optional<double> fixed_ = {};
};

/// The same rate at every step. Throws, like all schedules below, if a rate is negative or not finite.
Schedule constant(double rate);
/// peak * step / warmup up to step `warmup`, then peak. warmup 0 is constant(peak).
Schedule warmup_linear(double peak, std::int64_t warmup);
/// scale * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017, section 5.3).
Schedule noam(std::int64_t d_model, std::int64_t warmup, double scale = 1);
/// Linear to peak at `warmup`, then peak * sqrt(warmup / step): noam, given its peak. warmup 0 counts as 1.
Schedule inverse_sqrt(double peak, std::int64_t warmup);
/// Linear to peak at `warmup`, then half a cosine down to `floor` at step `total`, then `floor` (Loshchilov &
/// Hutter 2017).
Schedule warmup_cosine(double peak, std::int64_t warmup, std::int64_t total, double floor = 0);

}  // namespace gradus::optim
