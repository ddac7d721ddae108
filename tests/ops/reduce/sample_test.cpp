#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/ops.h"
#include "threads_guard.h"

using namespace gradus;
using gradus::test::check_error;

namespace {

using Indices = std::vector<std::int64_t>;

Indices draw(const Tensor& weights, std::int64_t count, bool replacement, std::uint64_t seed = 1) {
  Generator generator(seed);
  return multinomial(weights, count, replacement, generator).to_vector<std::int64_t>();
}

/// The relative frequency of each class.
std::vector<double> shares(const Indices& drawn, std::size_t classes) {
  std::vector<double> share(classes);
  for (const std::int64_t i : drawn)
    share[static_cast<std::size_t>(i)] += 1 / static_cast<double>(drawn.size());
  return share;
}

}  // namespace

TEST_CASE("multinomial with replacement follows the weights") {
  const std::vector<double> share = shares(draw(tensor({2.0, 0.0, 1.0, 5.0}), 40000, true), 4);
  const double expected[] = {0.25, 0, 0.125, 0.625};
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(share[i] - expected[i]) < 0.01);  // 4 standard deviations
  CHECK(share[1] == 0);
}

TEST_CASE("multinomial without replacement samples sequentially") {
  // The first of two is class i with probability w_i; the second is j with probability w_j / (1 - w_i).
  const double w[] = {0.5, 0.3, 0.2};
  const Tensor weights = expand(tensor({5.0, 3.0, 2.0}), {30000, 3});
  const Indices drawn = draw(weights, 2, false);
  double pairs[3][3] = {};
  for (std::size_t i = 0; i < drawn.size(); i += 2) pairs[drawn[i]][drawn[i + 1]] += 1 / 30000.0;
  for (int i = 0; i < 3; ++i) {
    CHECK(pairs[i][i] == 0);
    for (int j = 0; j < 3; ++j)
      if (i != j) CHECK(std::abs(pairs[i][j] - w[i] * w[j] / (1 - w[i])) < 0.012);
  }
}

TEST_CASE("multinomial: shapes, extreme weights and all of the classes") {
  Generator generator(2);
  CHECK(multinomial(ones({4}), 3, false, generator).shape() == Shape{3});
  CHECK(multinomial(ones({5, 4}), 3, false, generator).shape() == Shape{5, 3});
  CHECK(multinomial(ones({0, 4}), 3, false, generator).shape() == Shape{0, 3});
  const Indices all = draw(ones({50}), 50, false);
  CHECK(std::set<std::int64_t>(all.begin(), all.end()).size() == 50);
  CHECK(draw(tensor({0.0, 3.0, 0.0}), 2, true) == Indices{1, 1});
  // Sums of such weights overflow, and the smallest are denormal.
  const Tensor huge = full({3}, 1e308, f64), tiny = full({3}, 1e-320, f64);
  CHECK(shares(draw(huge, 3000, true), 3)[2] > 0.25);
  CHECK(shares(draw(tiny, 3000, true), 3)[2] > 0.25);
  Indices order = draw(tiny, 3, false);
  std::sort(order.begin(), order.end());
  CHECK(order == Indices{0, 1, 2});
}

TEST_CASE("multinomial depends on the generator's state, not on threads or layout") {
  Generator generator(9);
  const Tensor weights = rand({600, 30}, generator);
  for (const bool replacement : {false, true}) {
    Indices alone;
    {
      const test::ThreadsGuard guard(1);
      alone = draw(weights, 5, replacement);
    }
    const test::ThreadsGuard guard(3);
    CHECK(draw(weights, 5, replacement) == alone);
    CHECK(draw(transpose(transpose(weights, 0, 1).contiguous(), 0, 1), 5, replacement) == alone);
    CHECK(draw(weights, 5, replacement, 2) != alone);
  }
  manual_seed(4);
  const Tensor first = multinomial(weights, 5), second = multinomial(weights, 5);
  CHECK(first.to_vector<double>() != second.to_vector<double>());
  manual_seed(4);
  CHECK(multinomial(weights, 5).to_vector<double>() == first.to_vector<double>());
}

TEST_CASE("multinomial: errors") {
  check_error(
      [] {
        multinomial(tensor({0.5, -0.5}), 1);
      },
      "multinomial: expects finite weights of 0 or more, got -0.5 at index 1 of row 0");
  check_error(
      [] {
        multinomial(tensor({{0.5, 1.0}, {NAN, 0.5}}), 1);
      },
      "multinomial: expects finite weights of 0 or more, got nan at index 0 of row 1");
  check_error(
      [] {
        multinomial(tensor({INFINITY, 1.0}), 1);
      },
      "multinomial: expects finite weights of 0 or more, got inf at index 0 of row 0");
  check_error([] { multinomial(zeros({2, 3}), 1, true); }, "multinomial: all weights of row 0 are 0");
  check_error(
      [] {
        multinomial(tensor({1.0, 0.0, 1.0}), 3);
      },
      "multinomial: cannot draw 3 different indices from row 0, which has 2 weights above 0: draw with "
      "replacement or fewer");
  check_error([] { multinomial(ones({3}), 0); }, "multinomial: expects a count of 1 or more, got 0");
  check_error(
      [] {
        multinomial(tensor({1, 2}), 1);
      },
      "multinomial: expects weights of f32 or f64, got i64 [2]: convert with .to(f32)");
  check_error(
      [] {
        multinomial(ones({1, 2, 3}), 1);
      },
      "multinomial: expects weights [C] or [B, C] with C > 0, got [1, 2, 3]");
  check_error(
      [] {
        multinomial(zeros({2, 0}), 1);
      },
      "multinomial: expects weights [C] or [B, C] with C > 0, got [2, 0]");
  Generator generator(1);
  const Generator::State state = generator.state();
  check_error([&] { multinomial(zeros({2}), 1, true, generator); },
              "multinomial: all weights of row 0 are 0");
  CHECK(generator.state() == state);  // nothing was drawn
}
