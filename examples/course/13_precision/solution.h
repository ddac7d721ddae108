#include "learn/learn.h"

std::uint16_t to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);  // one bit of fraction must stay
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float from_bf16(std::uint16_t bits) { return float_of(std::uint32_t{bits} << 16); }

Moments moments(const std::vector<std::uint16_t>& x) {
  const float n = static_cast<float>(x.size());
  float sum = 0, squares = 0;
  for (const std::uint16_t bits : x) sum += from_bf16(bits);
  const float mean = sum / n;
  for (const std::uint16_t bits : x) squares += (from_bf16(bits) - mean) * (from_bf16(bits) - mean);
  return {mean, squares / n};
}
