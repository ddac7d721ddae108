#include "lab/training/ngram.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

using Text = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("probabilities sum to one after every context, seen or not") {
  const Text text{0, 1, 2, 0, 1, 3, 3, 2, 0, 1, 2};
  for (int n = 1; n <= 4; ++n) {
    Ngram model(n, 5);
    model.learn(text);
    for (const Text& before : {Text{}, Text{4}, Text{0, 1}, Text{2, 0, 1}, Text{4, 4, 4}}) {
      double sum = 0;
      for (std::int32_t next = 0; next < 5; ++next) {
        CHECK(model.probability(before, next) > 0);
        sum += model.probability(before, next);
      }
      CHECK(sum == doctest::Approx(1).epsilon(1e-12));
    }
  }
}

TEST_CASE("the smoothing is Witten and Bell's") {
  Ngram model(2, 4);
  model.learn(Text{0, 1, 0, 1, 0, 2});  // predicted: 1 0 1 0 2
  // Without context: counts {0: 2, 1: 2, 2: 1}, 3 types; after 0: counts {1: 2, 2: 1}, 2 types.
  const double one = (2 + 3 * 0.25) / (5 + 3);
  CHECK(model.probability(Text{3}, 1) == doctest::Approx(one));
  CHECK(model.probability(Text{0}, 1) == doctest::Approx((2 + 2 * one) / (3 + 2)));
  const double three = 3 * 0.25 / (5 + 3);
  CHECK(model.probability(Text{0}, 3) == doctest::Approx(2 * three / (3 + 2)));
}

TEST_CASE("a model without data is uniform") {
  const Ngram model(3, 8);
  CHECK(model.loss(Text{1, 2, 3, 4}) == doctest::Approx(std::log(8)));
}

TEST_CASE("the best n is the shortest context that holds the pattern") {
  // 0 1 1 0 1 1 ...: two characters determine the next, one does not.
  Text text;
  for (int i = 0; i < 3000; ++i) text.push_back(i % 3 == 0 ? 0 : 1);
  const std::vector<Text> texts{text};
  const NgramBaseline baseline = best_ngram(texts, texts, 2);
  CHECK(baseline.n >= 3);
  CHECK(baseline.loss < 0.01);
  CHECK(baseline.losses[0] == doctest::Approx(std::log(3) - 2 * std::log(2) / 3).epsilon(0.01));
  CHECK(baseline.losses[1] == doctest::Approx(2 * std::log(2) / 3).epsilon(0.01));
}

TEST_CASE("the first character of a text is not predicted") {
  Ngram model(1, 2);
  model.learn(Text{0, 1});
  model.learn(Text{0, 1});
  CHECK(model.probability({}, 1) == doctest::Approx((2 + 0.5) / 3));
}

TEST_CASE("bad calls are refused") {
  CHECK_THROWS_WITH_AS(Ngram(0, 5), "Ngram: expects n of at least 1, got 0", Error);
  CHECK_THROWS_WITH_AS(Ngram(4, 70000),
                       "Ngram: a vocabulary of 70000 is too large for n = 4; use a smaller n", Error);
  CHECK_THROWS_WITH_AS(Ngram(2, 3).learn(Text{0, 3}), "Ngram: token 3 is outside 0..2", Error);
  CHECK_THROWS_WITH_AS(Ngram(2, 3).loss(Text{0}),
                       "Ngram: a loss needs a text of at least 2 characters, got 1", Error);
  const std::vector<Text> nothing;
  CHECK_THROWS_AS(best_ngram(nothing, nothing, 3), Error);
}
