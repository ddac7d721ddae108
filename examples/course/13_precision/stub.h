#include "learn/learn.h"

// Rounding an f32 to bf16, and the mean and the variance of values stored in bf16. About 12 lines.
//
//   f32:   1 bit of sign, 8 of exponent, 23 of fraction
//   bf16:  1 bit of sign, 8 of exponent,  7 of fraction
//
// Which of the neighbouring bf16 is right, and which if both are equally near? What may happen when the
// fraction is full? Which f32 is no number at all, and must stay none?
//
//   bits_of(x)        the 32 bits of an f32, a std::uint32_t
//   float_of(bits)    the f32 that has these bits
//   struct Moments { float mean, var; };    all given in examples/course/13_precision/given.h
//
// Forbidden: __bf16 and bfloat16_t.

/// Returns the 16 bits of the bf16 nearest to x. What is beyond the largest bf16 by half a spacing or more
/// becomes infinite; a NaN remains a NaN.
std::uint16_t to_bf16(float x) { return todo(x); }

/// Returns mean and variance, divided by n, of n values, each given by the 16 bits of a bf16. Both are f32,
/// and right to four digits for thousands of values, also if their mean is large.
Moments moments(const std::vector<std::uint16_t>& x) { return todo(x); }
