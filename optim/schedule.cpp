#include "gradus/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gradus/core/detail/format.h"

namespace gradus::optim {

namespace {
void check_rate(const char* schedule, double rate) {
  check(std::isfinite(rate) && rate >= 0, "{}: expects a rate of 0 or more, got {}", schedule, rate);
}

void check_warmup(const char* schedule, std::int64_t warmup, std::int64_t least) {
  check(warmup >= least, "{}: expects {} or more warm-up steps, got {}", schedule, least, warmup);
}

/// The fraction of the peak reached by warm-up: 1 from step `warmup` on.
double warmup_share(std::int64_t step, std::int64_t warmup) {
  return step >= warmup ? 1.0 : static_cast<double>(step) / static_cast<double>(warmup);
}
}  // namespace

Schedule::Schedule(double rate) : Schedule([rate](std::int64_t) { return rate; }) { fixed_ = rate; }

double Schedule::operator()(std::int64_t step) const {
  check(step >= 1, "Schedule: expects a step of 1, the first update, or more, got {}", step);
  return (*rate_)(step);
}

Schedule constant(double rate) {
  check_rate("constant", rate);
  return Schedule(rate);
}

Schedule warmup_linear(double peak, std::int64_t warmup) {
  check_rate("warmup_linear", peak);
  check_warmup("warmup_linear", warmup, 0);
  return [=](std::int64_t step) { return peak * warmup_share(step, warmup); };
}

Schedule noam(std::int64_t d_model, std::int64_t warmup, double scale) {
  check(d_model >= 1, "noam: expects d_model of 1 or more, got {}", d_model);
  check_rate("noam", scale);
  check_warmup("noam", warmup, 1);
  return [=](std::int64_t step) {
    const double s = static_cast<double>(step), w = static_cast<double>(warmup);
    return scale / std::sqrt(static_cast<double>(d_model)) *
           std::min(1 / std::sqrt(s), s / (w * std::sqrt(w)));
  };
}

Schedule inverse_sqrt(double peak, std::int64_t warmup) {
  check_rate("inverse_sqrt", peak);
  check_warmup("inverse_sqrt", warmup, 0);
  const std::int64_t w = std::max<std::int64_t>(warmup, 1);
  return [=](std::int64_t step) {
    if (step < w) return peak * warmup_share(step, w);
    return peak * std::sqrt(static_cast<double>(w) / static_cast<double>(step));
  };
}

Schedule warmup_cosine(double peak, std::int64_t warmup, std::int64_t total, double floor) {
  check_rate("warmup_cosine", peak);
  check_rate("warmup_cosine", floor);
  check_warmup("warmup_cosine", warmup, 0);
  check(floor <= peak, "warmup_cosine: expects a floor of at most the peak, {}, got {}", peak, floor);
  check(total > warmup, "warmup_cosine: expects a total of more steps than the {} of warm-up, got {}", warmup,
        total);
  return [=](std::int64_t step) {
    if (step < warmup) return peak * warmup_share(step, warmup);
    if (step >= total) return floor;
    const double done = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
    return floor + (peak - floor) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  };
}

}  // namespace gradus::optim
