#include "learn/learn.h"

Factors mup(Role role, int fan_in, int, double m) {
  if (role == Role::hidden) return {1 / std::sqrt(fan_in), 1 / m, 1};
  if (role == Role::output) return {1 / std::sqrt(fan_in / m), 1, 1 / m};
  return {1 / std::sqrt(fan_in), 1, 1};
}

Tensor sensitivity(const Tensor& end, const Tensor& start) {
  const Tensor least = where(isnan(end), start, minimum(end, start));
  return least.mean(1) - least.min(1);
}
