#include "gradus/kit/program/detail/eta.h"

#include <algorithm>
#include <cmath>

namespace gradus::kit {

Eta::Eta(double total, double now) : total_(total), start_(now), last_(now) {}

void Eta::update(double done, double now) {
  constexpr double memory = 60;  // seconds
  const double passed = std::max(now - last_, 0.0);
  const double fade = std::exp(-passed / memory);
  recent_work_ = recent_work_ * fade + std::max(done - done_, 0.0);
  recent_time_ = recent_time_ * fade + passed;
  done_ = done;
  last_ = std::max(now, last_);
}

std::optional<double> Eta::remaining() const {
  if (done_ >= total_) return 0.0;
  if (recent_work_ <= 0 || recent_time_ <= 0) return std::nullopt;
  return (total_ - done_) * recent_time_ / recent_work_;
}

}  // namespace gradus::kit
