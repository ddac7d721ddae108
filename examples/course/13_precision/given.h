#pragma once
// The bits of an f32, and the two results of the exercise's second function.

#include <cstdint>
#include <cstring>

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct Moments {
  float mean, var;
};
