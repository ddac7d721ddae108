#include "gradus/core/random/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/threads/parallel.h"
#include "poison_guard.h"
#include "threads_guard.h"

using namespace gradus;
using I = std::int64_t;
using Block = std::array<std::uint32_t, 4>;

namespace {

template <class T>
std::vector<T> values_of(const Array& array) {
  return std::vector<T>(array.data<T>(), array.data<T>() + array.numel());
}

std::uint64_t word64(const Block& block, std::size_t half) {
  return block[2 * half] | std::uint64_t{block[2 * half + 1]} << 32;
}

/// The k-th moment about `center`.
template <class T>
double moment(const std::vector<T>& values, int k, double center = 0) {
  double sum = 0;
  for (const T value : values) sum += std::pow(static_cast<double>(value) - center, k);
  return sum / static_cast<double>(values.size());
}

/// Sum of (observed - expected)^2 / expected over equally likely cells; about cells - 1, plus or minus
/// sqrt(2 (cells - 1)).
double chi_square(const std::vector<I>& counts) {
  double total = 0, sum = 0;
  for (const I count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  for (const I count : counts)
    sum += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected);
  return sum / expected;
}

/// Within five standard deviations: the seeds are fixed, so this holds always or never.
bool plausible(double chi_square, std::size_t cells) {
  const double degrees = static_cast<double>(cells) - 1;
  return std::abs(chi_square - degrees) < 5 * std::sqrt(2 * degrees);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

TEST_CASE("philox: the published known answers") {
  CHECK(philox(0, 0, 0) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(philox(ones, ones, ones) == Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random arrays: each element has fixed words") {
  Generator generator(7, 3);
  generator.reserve(10);
  const auto uniform32 = values_of<float>(random_uniform({9}, 0, 1, f32, generator));
  CHECK(generator.state() == Generator::State{7, 3, 13});
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(uniform32[i] == static_cast<float>(philox(7, 10 + i / 4, 3)[i % 4] >> 8) / 16777216.0f);

  const auto uniform64 = values_of<double>(random_uniform({5}, 0, 1, f64, generator));
  CHECK(generator.state().offset == 16);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(uniform64[i] ==
          static_cast<double>(word64(philox(7, 13 + i / 2, 3), i % 2) >> 11) / 9007199254740992.0);

  const auto normal32 = values_of<float>(random_normal({6}, 0, 1, f32, generator));
  for (std::size_t i = 0; i < 6; ++i) {
    const Block block = philox(7, 16 + i / 4, 3);
    const std::size_t pair = i % 4 / 2 * 2;
    const double radius =
        std::sqrt(-2 * std::log((static_cast<double>(block[pair] >> 1) + 1) * std::ldexp(1.0, -31)));
    const double angle = 2 * M_PI * std::ldexp(static_cast<double>(block[pair + 1]), -32);
    CHECK(normal32[i] ==
          doctest::Approx(radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle))).epsilon(1e-6));
  }

  const auto normal64 = values_of<double>(random_normal({1000}, 0, 1, f64, generator));
  for (std::size_t i = 0; i < 1000; ++i) {
    const Block block = philox(7, 18 + i / 2, 3);
    const double u = (static_cast<double>(word64(block, 0) >> 1) + 1) * std::ldexp(1.0, -63);
    const double angle = 2 * M_PI * std::ldexp(static_cast<double>(word64(block, 1)), -64);
    const double expected = std::sqrt(-2 * std::log(u)) * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
    CHECK(std::abs(normal64[i] - expected) < 1e-14);
  }
}

TEST_CASE("random arrays: the same numbers for any number of threads") {
  const auto bytes = [](const Array& array) {
    const char* first = static_cast<const char*>(array.raw());
    return std::string(first, static_cast<std::size_t>(array.numel()) * size_of(array.dtype()));
  };
  std::set<std::string> uniform32, uniform64, normal32, normal64, integers;
  for (const int threads : {1, 2, 3, 4, 8}) {
    const test::ThreadsGuard guard(threads);
    Generator generator(11);
    const Shape shape{3, 33'335};  // several chunks and a ragged end
    uniform32.insert(bytes(random_uniform(shape, -1, 1, f32, generator)));
    uniform64.insert(bytes(random_uniform(shape, -1, 1, f64, generator)));
    normal32.insert(bytes(random_normal(shape, 0, 1, f32, generator)));
    normal64.insert(bytes(random_normal(shape, 0, 1, f64, generator)));
    integers.insert(bytes(random_integers(shape, 0, 1000, generator)));
  }
  for (const auto* each : {&uniform32, &uniform64, &normal32, &normal64, &integers}) CHECK(each->size() == 1);
}

TEST_CASE("random arrays: a shorter array is the start of a longer one") {
  for (const I n : {1, 2, 3, 5, 63, 257, 40'000}) {
    Generator a(5), b(5);
    const auto part = values_of<float>(random_normal({n}, 0, 1, f32, a));
    const auto whole = values_of<float>(random_normal({50'000}, 0, 1, f32, b));
    CHECK(std::equal(part.begin(), part.end(), whole.begin()));
  }
}

TEST_CASE("random arrays: the same bits with every compiler and on every machine") {
  const auto fingerprint = [](const Array& array) {  // FNV-1a over the bytes
    std::uint64_t hash = 0xcbf29ce484222325;
    const unsigned char* const bytes = static_cast<const unsigned char*>(array.raw());
    for (std::size_t i = 0; i < static_cast<std::size_t>(array.numel()) * size_of(array.dtype()); ++i)
      hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
  };
  Generator generator(2024);
  CHECK(fingerprint(random_normal({10'000}, 0, 1, f32, generator)) == 7315427893775448225u);
  CHECK(fingerprint(random_normal({10'000}, 0, 1, f64, generator)) == 10894163252158347492u);
  CHECK(fingerprint(random_uniform({10'000}, -1, 3, f32, generator)) == 1597617207955554631u);
  CHECK(fingerprint(random_integers({10'000}, -5, 1000, generator)) == 51732705708298170u);
  CHECK(fingerprint(random_permutation(10'000, generator)) == 1549200796462175665u);
}

TEST_CASE("random_uniform: range, moments, distribution") {
  Generator generator(1);
  constexpr std::size_t n = 400'000;
  const auto check_values = [&]<class T>(const std::vector<T>& values) {
    CHECK(*std::min_element(values.begin(), values.end()) >= 0);
    CHECK(*std::max_element(values.begin(), values.end()) < 1);
    CHECK(std::abs(moment(values, 1) - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
    CHECK(std::abs(moment(values, 2, 0.5) - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / n));
    std::vector<I> counts(1000);
    for (const T value : values) ++counts[static_cast<std::size_t>(value * 1000)];
    CHECK(plausible(chi_square(counts), 1000));
    // Neighbours are independent: a grid of pairs is evenly filled.
    std::vector<I> pairs(32 * 32);
    for (std::size_t i = 0; i + 1 < n; i += 2)
      ++pairs[static_cast<std::size_t>(values[i] * 32) * 32 + static_cast<std::size_t>(values[i + 1] * 32)];
    CHECK(plausible(chi_square(pairs), pairs.size()));
  };
  check_values(values_of<float>(random_uniform({static_cast<I>(n)}, 0, 1, f32, generator)));
  check_values(values_of<double>(random_uniform({static_cast<I>(n)}, 0, 1, f64, generator)));

  const auto shifted = values_of<float>(random_uniform({10'000}, -3, 5, f32, generator));
  CHECK(*std::min_element(shifted.begin(), shifted.end()) >= -3);
  CHECK(*std::max_element(shifted.begin(), shifted.end()) < 5);
  CHECK(std::abs(moment(shifted, 1) - 1) < 0.15);

  // A range of two floats: rounding up would reach the upper one.
  const float low = 1, high = std::nextafter(low, 2.0f);
  for (const float value : values_of<float>(random_uniform({1000}, low, high, f32, generator)))
    CHECK(value == low);
  CHECK(values_of<double>(random_uniform({2}, 4, 4, f64, generator)) == std::vector<double>{4, 4});
}

TEST_CASE("random_normal: moments, distribution, tails") {
  Generator generator(2);
  constexpr std::size_t n = 400'000;
  const auto check_values = [&]<class T>(const std::vector<T>& values) {
    CHECK(std::abs(moment(values, 1)) < 5 / std::sqrt(n));
    CHECK(std::abs(moment(values, 2) - 1) < 5 * std::sqrt(2.0 / n));
    CHECK(std::abs(moment(values, 3)) < 5 * std::sqrt(15.0 / n));
    CHECK(std::abs(moment(values, 4) - 3) < 5 * std::sqrt(96.0 / n));
    std::vector<I> counts(500);
    for (const T value : values)
      ++counts[static_cast<std::size_t>(normal_cdf(static_cast<double>(value)) * 500)];
    CHECK(plausible(chi_square(counts), 500));
    // The two numbers of a pair are independent, and so are neighbouring pairs.
    for (std::size_t lag = 1; lag <= 4; ++lag) {
      double sum = 0;
      for (std::size_t i = 0; i + lag < n; ++i)
        sum += static_cast<double>(values[i]) * static_cast<double>(values[i + lag]);
      CHECK(std::abs(sum / n) < 5 / std::sqrt(n));
    }
    CHECK(*std::max_element(values.begin(), values.end()) > 4);
    CHECK(*std::min_element(values.begin(), values.end()) < -4);
  };
  check_values(values_of<float>(random_normal({static_cast<I>(n)}, 0, 1, f32, generator)));
  check_values(values_of<double>(random_normal({static_cast<I>(n)}, 0, 1, f64, generator)));

  const auto shifted = values_of<double>(random_normal({100'000}, 10, 0.5, f64, generator));
  CHECK(std::abs(moment(shifted, 1) - 10) < 0.01);
  CHECK(std::abs(moment(shifted, 2, 10) - 0.25) < 0.01);
  CHECK(values_of<float>(random_normal({2}, 3, 0, f32, generator)) == std::vector<float>{3, 3});
}

TEST_CASE("random_integers: range and evenness") {
  Generator generator(3);
  const auto values = values_of<I>(random_integers({300, 1000}, -7, 30, generator));
  std::vector<I> counts(37);
  REQUIRE(std::all_of(values.begin(), values.end(), [](I value) { return value >= -7 && value < 30; }));
  for (const I value : values) ++counts[static_cast<std::size_t>(value + 7)];
  CHECK(plausible(chi_square(counts), counts.size()));
  CHECK(values_of<I>(random_integers({3}, 5, 6, generator)) == std::vector<I>{5, 5, 5});

  constexpr I least = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  const auto wide = values_of<I>(random_integers({1000}, least, most, generator));
  CHECK(std::count_if(wide.begin(), wide.end(), [](I value) { return value < 0; }) > 400);
  CHECK(std::count_if(wide.begin(), wide.end(), [](I value) { return value < 0; }) < 600);
}

TEST_CASE("random_permutation: each number once, every order equally likely") {
  Generator generator(4);
  auto order = values_of<I>(random_permutation(1000, generator));
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (I i = 0; i < 1000; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  CHECK(random_permutation(0, generator).shape() == Shape{0});
  CHECK(values_of<I>(random_permutation(1, generator)) == std::vector<I>{0});

  std::map<std::vector<I>, I> orders;
  for (int i = 0; i < 24'000; ++i) ++orders[values_of<I>(random_permutation(4, generator))];
  std::vector<I> counts;
  for (const auto& [permutation, count] : orders) counts.push_back(count);
  CHECK(counts.size() == 24);
  CHECK(plausible(chi_square(counts), 24));
}

TEST_CASE("Generator: single numbers") {
  Generator generator(9);
  CHECK(generator.next() == word64(philox(9, 0, 0), 0));
  CHECK(generator.uniform() == static_cast<double>(word64(philox(9, 1, 0), 0) >> 11) * std::ldexp(1.0, -53));
  std::vector<double> uniform, normal;
  for (int i = 0; i < 100'000; ++i)
    uniform.push_back(generator.uniform()), normal.push_back(generator.normal());
  CHECK(std::abs(moment(uniform, 1) - 0.5) < 0.005);
  CHECK(std::abs(moment(normal, 1)) < 0.02);
  CHECK(std::abs(moment(normal, 2) - 1) < 0.03);
  std::vector<I> counts(6);
  for (int i = 0; i < 60'000; ++i) ++counts[static_cast<std::size_t>(generator.below(6))];
  CHECK(plausible(chi_square(counts), 6));
  CHECK(generator.below(1) == 0);
  // A quarter of all words lie past the last whole run of this many numbers. Were they not drawn again, the
  // first third of the range would get three eighths of the numbers.
  constexpr I large = I{3} << 61;
  int first_third = 0;
  for (int i = 0; i < 10'000; ++i) first_third += generator.below(large) < large / 3;
  CHECK(std::abs(first_third / 1e4 - 1.0 / 3) < 0.02);
}

TEST_CASE("Generator: state") {
  Generator generator(12, 5);
  random_normal({101}, 0, 1, f32, generator);
  const Generator::State saved = generator.state();
  CHECK(saved == Generator::State{12, 5, 26});
  const auto expected = values_of<double>(random_normal({50}, 0, 1, f64, generator));
  const std::uint64_t next = generator.next();

  Generator resumed;
  resumed.set_state(saved);
  CHECK(values_of<double>(random_normal({50}, 0, 1, f64, resumed)) == expected);
  CHECK(resumed.next() == next);

  Generator copy = resumed;
  CHECK(copy.next() == resumed.next());
  copy.manual_seed(12);
  CHECK(copy.state() == Generator::State{12, 5, 0});
}

TEST_CASE("Generator: streams, seeds and successive arrays do not overlap") {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  const auto draw = [&](Generator& generator) {
    for (const I value : values_of<I>(random_integers({5000}, std::numeric_limits<I>::min(),
                                                      std::numeric_limits<I>::max(), generator)))
      seen.insert(static_cast<std::uint64_t>(value));
    drawn += 5000;
  };
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (std::uint64_t stream = 0; stream < 3; ++stream) {
      Generator generator(seed, stream);
      draw(generator);
      draw(generator);
    }
  CHECK(seen.size() == drawn);  // 90,000 words of 64 bits: a chance meeting has probability 2e-10

  Generator a(1, 0), b(1, 1);
  const auto x = values_of<double>(random_normal({100'000}, 0, 1, f64, a));
  const auto y = values_of<double>(random_normal({100'000}, 0, 1, f64, b));
  double product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) product += x[i] * y[i];
  CHECK(std::abs(product / 100'000) < 5 / std::sqrt(100'000.0));
}

TEST_CASE("Generator: a state saved as an array continues bit for bit") {
  Generator generator(~std::uint64_t{0}, 9);
  generator.normal();
  const Array state = generator.get_state();
  CHECK(to_string(state.shape()) == "[3]");
  const std::uint64_t expected = generator.next();
  Generator other;
  other.set_state(state);
  CHECK(other.next() == expected);
  CHECK_THROWS_WITH_AS(other.set_state(Array::zeros({2}, i64)),
                       "Generator: expects a state i64 [3], got i64 [2]", Error);
  CHECK_THROWS_WITH_AS(other.set_state(Array()), "Generator: expects a state i64 [3], got nothing", Error);
}

TEST_CASE("default_generator: one for each thread") {
  const Generator::State before = default_generator().state();
  manual_seed(77);
  CHECK(default_generator().state() == Generator::State{77, 0, 0});
  const std::uint64_t first = default_generator().next();
  std::uint64_t other = 0;
  std::thread([&] {
    CHECK(default_generator().state() == Generator::State{0, 0, 0});
    manual_seed(77);
    other = default_generator().next();
  }).join();
  CHECK(other == first);
  CHECK(default_generator().state().offset == 1);
  default_generator().set_state(before);
}

#ifndef __SANITIZE_ADDRESS__  // which refuses to read behind an array, and would see a write itself
TEST_CASE("random arrays: nothing is written behind the last element") {
  const test::PoisonGuard poison(true);
  Generator generator;
  for (const DType dtype : {f32, f64})
    for (const I n : {1, 2, 3, 5, 6, 7, 1021}) {
      const Array x = random_normal({n}, 0, 1, dtype, generator);
      const auto* const bytes = static_cast<const unsigned char*>(x.storage().data());
      const std::size_t used = x.storage().bytes(), held = (used + 63) / 64 * 64;
      CHECK(std::count(bytes + used, bytes + held, 0xFF) == static_cast<std::ptrdiff_t>(held - used));
    }
}
#endif

TEST_CASE("random arrays: empty shapes") {
  Generator generator;
  CHECK(random_normal({0, 3}, 0, 1, f32, generator).shape() == Shape{0, 3});
  CHECK(generator.state().offset == 0);
  CHECK(random_uniform({}, 0, 1, f64, generator).numel() == 1);
  CHECK(generator.state().offset == 1);
}

TEST_CASE("random arrays: bad arguments") {
  Generator generator;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(random_uniform({2}, 0, 1, i64, generator),
                       "random_uniform: expects f32 or f64, got i64: convert the result with .to(i64)",
                       Error);
  CHECK_THROWS_WITH_AS(random_normal({2}, 0, 1, boolean, generator),
                       "random_normal: expects f32 or f64, got bool: convert the result with .to(bool)",
                       Error);
  CHECK_THROWS_WITH_AS(random_uniform({2}, 2, 1, f32, generator),
                       "random_uniform: expects finite low <= high, got 2 and 1", Error);
  CHECK_THROWS_WITH_AS(random_uniform({2}, 0, inf, f64, generator),
                       "random_uniform: expects finite low <= high, got 0 and inf", Error);
  CHECK_THROWS_AS(random_uniform({2}, nan, 1, f64, generator), Error);
  CHECK_THROWS_AS(random_uniform({2}, -3e38, 3e38, f32, generator), Error);  // the width does not fit in f32
  CHECK_THROWS_WITH_AS(random_normal({2}, 0, -1, f32, generator),
                       "random_normal: expects a finite mean and standard deviation >= 0, got 0 and -1",
                       Error);
  CHECK_THROWS_AS(random_normal({2}, 0, nan, f32, generator), Error);
  CHECK_THROWS_AS(random_normal({2}, inf, 1, f32, generator), Error);
  CHECK_THROWS_WITH_AS(random_integers({2}, 5, 5, generator),
                       "random_integers: expects low < high, got 5 and 5", Error);
  CHECK_THROWS_WITH_AS(random_integers({2}, 5, -5, generator),
                       "random_integers: expects low < high, got 5 and -5", Error);
  CHECK_THROWS_WITH_AS(random_permutation(-1, generator), "random_permutation: expects n >= 0, got -1",
                       Error);
  CHECK_THROWS_WITH_AS(generator.below(0), "Generator::below: expects a bound of at least 1, got 0", Error);
  CHECK_THROWS_AS(generator.below(-4), Error);
  CHECK_THROWS_AS(random_normal({-2}, 0, 1, f32, generator), Error);
  CHECK_THROWS_AS(random_normal({I{1} << 50}, 0, 1, f32, generator), Error);
  CHECK(generator.state() == Generator::State{0, 0, 0});  // a refused call draws nothing
}
