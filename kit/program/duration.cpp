#include "gradus/kit/program/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradus::kit {

std::string human_duration(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  if (seconds < 0) return "0 s";
  if (seconds < 9.95) return seconds < 0.05 ? "0 s" : fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::min(std::round(seconds), 1e15));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

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
