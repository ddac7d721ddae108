struct Answer {
  std::uint16_t (*to_bf16)(float x);
  Moments (*moments)(const std::vector<std::uint16_t>& x);
};
#define ANSWER(FROM) \
  { FROM::to_bf16, FROM::moments }

static float widened(std::uint32_t bits) { return float_of(bits << 16); }
/// The f32 at this share of the way from one bf16, given by its bits, to the next one away from 0.
static float between(std::uint32_t bits, double share) {
  return float_of((bits << 16) + static_cast<std::uint32_t>(65536 * share));
}
static void rounds_to(const std::string& what, const Answer& answer, float x, std::uint32_t bits) {
  const float got = widened(answer.to_bf16(x)), want = widened(bits);
  if (std::isinf(want))  // every number is near infinity
    expect(got == want, want > 0 ? phrase("the bf16 of {0} is not infinity", what)
                                 : phrase("the bf16 of {0} is not -infinity", what));
  else
    near(phrase("the bf16 of {0}", what), got, want);
}
static std::vector<std::uint16_t> stored(const std::vector<float>& x) {  // each of them is a bf16
  std::vector<std::uint16_t> bits;
  for (const float value : x) bits.push_back(static_cast<std::uint16_t>(bits_of(value) >> 16));
  return bits;
}

CASE("a value goes to the nearer neighbour", "Dropping the lower 16 bits alone always goes toward 0.") {
  for (const double share : {0.0, 0.1, 0.4999, 0.5001, 0.9}) {
    const auto bits = 0x3f81u + static_cast<std::uint32_t>(100 * rand({1}).item());  // 1.008 .. 1.78
    rounds_to(phrase("a value {0} of the way to the next one", share), answer, between(bits, share),
              share < 0.5 ? bits : bits + 1);
  }
}
CASE("of two equally near, the one that ends in 0", "Halfway: look at the last bit that stays.") {
  rounds_to(phrase("1 + 1/256, halfway between 1 and 1 + 2/256,"), answer, 1 + 1.0f / 256, bits_of(1) >> 16);
  rounds_to(phrase("1 + 3/256, halfway between 1 + 2/256 and 1 + 4/256,"), answer, 1 + 3.0f / 256,
            bits_of(1 + 4.0f / 256) >> 16);
}
CASE("the sign stays", "The sign is the first of the 16 bits, for 0 and infinity too.") {
  rounds_to("-2.5", answer, -2.5f, bits_of(-2.5f) >> 16);
  rounds_to(phrase("-infinity"), answer, -INFINITY, 0xff80);
  expect(answer.to_bf16(-0.0f) == 0x8000, "the bf16 of -0 is not -0");
}
CASE("a full fraction carries into the exponent", "Add to the whole number, and not to the fraction alone.") {
  rounds_to("1.999", answer, 1.999f, bits_of(2) >> 16);
  rounds_to("255.9", answer, 255.9f, bits_of(256) >> 16);
}
CASE("beyond the largest bf16 is infinity",
     "Half a spacing above the largest one, a carry makes it infinite.") {
  rounds_to(phrase("the largest f32"), answer, std::numeric_limits<float>::max(), 0x7f80);
  rounds_to(phrase("the largest bf16"), answer, widened(0x7f7f), 0x7f7f);
  rounds_to(phrase("a little more than the largest bf16"), answer, between(0x7f7f, 0.3), 0x7f7f);
}
CASE("infinity stays infinity", "Exponent 255: infinite if the fraction is 0, else a NaN.") {
  rounds_to(phrase("infinity"), answer, INFINITY, 0x7f80);
}
CASE("a NaN stays a NaN",
     "It may have bits only among those that are dropped, and a carry may remove the others.") {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff804000u, 0xffffffffu})
    rounds_to(phrase("a NaN"), answer, float_of(bits), 0x7fc0);
}
// Compared after a multiplication by 2^133, the inverse of the smallest bf16.
CASE("the smallest values are values too", "Exponent 0: bits are added as for all others.") {
  for (const double count : {0.4, 0.6, 1.6, 2.3, 100.7})
    near(phrase("the bf16 of {0} times the smallest one, counted in this one,", count),
         std::ldexp(widened(answer.to_bf16(static_cast<float>(std::ldexp(count, -133)))), 133),
         std::round(count));
}
CASE("a mean of many", "In bf16 a sum of ones stops at 256: add in f32.") {
  const auto n = static_cast<std::size_t>(1000 + 1000 * rand({1}).item());
  near(phrase("the mean of {0} ones", n), answer.moments(stored(std::vector<float>(n, 1))).mean, 1);
}
CASE("the results are f32", "Round neither the mean nor the variance.") {
  const Moments got = answer.moments(stored({1, 1 + 2.0f / 256}));
  near("the mean of 1 and 1 + 2/256", got.mean, 1 + 1.0 / 256);
  near("256 squared times their variance", 65536 * got.var, 1);
}
CASE("the variance is divided by n", "Not by n - 1.") {
  near("the variance of 1, 2, 4 and 5", answer.moments(stored({1, 2, 4, 5})).var, 2.5);
}
CASE("the variance of values with a large mean",
     "Subtract the mean before you square, and add the squares in f32, too.") {
  std::vector<float> x;
  for (int i = 0; i < 4000; ++i) x.push_back(200 + std::floor(4 * static_cast<float>(rand({1}).item())));
  double mean = 0, var = 0;
  for (const float value : x) mean += value / 4000.0;
  for (const float value : x) var += (value - mean) * (value - mean) / 4000.0;
  near("the variance of 4000 values between 200 and 203", answer.moments(stored(x)).var, var, 1e-4);
}
