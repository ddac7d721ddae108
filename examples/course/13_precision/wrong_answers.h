namespace truncated {
using solution::moments;
std::uint16_t to_bf16(float x) { return static_cast<std::uint16_t>(bits_of(x) >> 16); }
}  // namespace truncated
MUTANT(truncated, "a value goes to the nearer neighbour", "of two equally near, the one that ends in 0",
       "a full fraction carries into the exponent", "beyond the largest bf16 is infinity",
       "a NaN stays a NaN", "the smallest values are values too")

namespace ties_away_from_zero {
using solution::moments;
std::uint16_t to_bf16(float x) {
  return std::isnan(x) ? std::uint16_t{0x7fc0} : static_cast<std::uint16_t>((bits_of(x) + 0x8000u) >> 16);
}
}  // namespace ties_away_from_zero
MUTANT(ties_away_from_zero, "of two equally near, the one that ends in 0")

namespace ties_toward_zero {
using solution::moments;
std::uint16_t to_bf16(float x) {
  return std::isnan(x) ? std::uint16_t{0x7fc0} : static_cast<std::uint16_t>((bits_of(x) + 0x7fffu) >> 16);
}
}  // namespace ties_toward_zero
MUTANT(ties_toward_zero, "of two equally near, the one that ends in 0")

namespace nan_carries {  // into the exponent and the sign, or loses the only bits of its fraction
using solution::moments;
std::uint16_t to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
}  // namespace nan_carries
MUTANT(nan_carries, "a NaN stays a NaN")

namespace nan_truncated {
using solution::moments;
std::uint16_t to_bf16(float x) {
  return std::isnan(x) ? static_cast<std::uint16_t>(bits_of(x) >> 16) : solution::to_bf16(x);
}
}  // namespace nan_truncated
MUTANT(nan_truncated, "a NaN stays a NaN")

namespace exponent_255_is_nan {
using solution::moments;
std::uint16_t to_bf16(float x) { return std::isfinite(x) ? solution::to_bf16(x) : std::uint16_t{0x7fc0}; }
}  // namespace exponent_255_is_nan
MUTANT(exponent_255_is_nan, "the sign stays", "infinity stays infinity")

namespace saturated {
using solution::moments;
std::uint16_t to_bf16(float x) {
  const std::uint16_t bits = solution::to_bf16(x);
  return std::isfinite(x) && (bits & 0x7fffu) == 0x7f80u ? static_cast<std::uint16_t>(bits - 1) : bits;
}
}  // namespace saturated
MUTANT(saturated, "beyond the largest bf16 is infinity")

namespace no_carry {
using solution::moments;
std::uint16_t to_bf16(float x) {
  const std::uint32_t upper = bits_of(x) >> 16;
  return static_cast<std::uint16_t>((upper & 0xff80u) | (solution::to_bf16(x) & 0x7fu));
}
}  // namespace no_carry
MUTANT(no_carry, "a full fraction carries into the exponent", "beyond the largest bf16 is infinity")

namespace sign_lost {
using solution::moments;
std::uint16_t to_bf16(float x) { return solution::to_bf16(std::abs(x)); }
}  // namespace sign_lost
MUTANT(sign_lost, "the sign stays")

namespace small_is_zero {
using solution::moments;
std::uint16_t to_bf16(float x) {
  return solution::to_bf16(std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x);
}
}  // namespace small_is_zero
MUTANT(small_is_zero, "the smallest values are values too")

namespace {
float in_bf16(float x) { return solution::from_bf16(solution::to_bf16(x)); }
float in_f32(float x) { return x; }

/// Sums are rounded after each addition.
Moments with(const std::vector<std::uint16_t>& x, float (*sum)(float), float (*squares)(float),
             float divisor) {
  const float n = static_cast<float>(x.size());
  float mean = 0, var = 0;
  for (const std::uint16_t bits : x) mean = sum(mean + solution::from_bf16(bits));
  mean /= n;
  for (const std::uint16_t bits : x) {
    const float d = solution::from_bf16(bits) - mean;
    var = squares(var + d * d);
  }
  return {mean, var / (n - divisor)};
}
}  // namespace

namespace sums_in_bf16 {
using solution::to_bf16;
Moments moments(const std::vector<std::uint16_t>& x) { return with(x, in_bf16, in_bf16, 0); }
}  // namespace sums_in_bf16
MUTANT(sums_in_bf16, "a mean of many", "the results are f32", "the variance of values with a large mean")

namespace squares_in_bf16 {
using solution::to_bf16;
Moments moments(const std::vector<std::uint16_t>& x) { return with(x, in_f32, in_bf16, 0); }
}  // namespace squares_in_bf16
MUTANT(squares_in_bf16, "the variance of values with a large mean")

namespace unbiased {
using solution::to_bf16;
Moments moments(const std::vector<std::uint16_t>& x) { return with(x, in_f32, in_f32, 1); }
}  // namespace unbiased
MUTANT(unbiased, "the results are f32", "the variance is divided by n",
       "the variance of values with a large mean")

namespace results_in_bf16 {
using solution::to_bf16;
Moments moments(const std::vector<std::uint16_t>& x) {
  const Moments exact = solution::moments(x);
  return {in_bf16(exact.mean), in_bf16(exact.var)};
}
}  // namespace results_in_bf16
MUTANT(results_in_bf16, "the results are f32", "the variance of values with a large mean")

namespace one_pass {
using solution::to_bf16;
Moments moments(const std::vector<std::uint16_t>& x) {
  const float n = static_cast<float>(x.size());
  float sum = 0, squares = 0;
  for (const std::uint16_t bits : x) {
    const float value = solution::from_bf16(bits);
    sum += value;
    squares += value * value;
  }
  return {sum / n, squares / n - sum / n * (sum / n)};
}
}  // namespace one_pass
MUTANT(one_pass, "the variance of values with a large mean")

namespace bits_as_integers {
using solution::to_bf16;
Moments moments(const std::vector<std::uint16_t>& x) {
  std::vector<float> values(x.begin(), x.end());
  const float n = static_cast<float>(x.size());
  float mean = 0, var = 0;
  for (const float value : values) mean += value / n;
  for (const float value : values) var += (value - mean) * (value - mean) / n;
  return {mean, var};
}
}  // namespace bits_as_integers
MUTANT(bits_as_integers, "a mean of many", "the results are f32", "the variance is divided by n",
       "the variance of values with a large mean")
