#include "gradus/data/sentence_pair.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"

using namespace gradus;
using test::check_error;

namespace {
const std::vector<data::Sentences> kDocuments = {{{1}, {2, 2}, {3}}, {}, {{4}, {5, 5}}, {{6}}};
}

TEST_CASE("sentence_pair: the next sentence half the time, else one of another document") {
  Generator generator(1);
  int follows = 0, sixes = 0;
  constexpr int draws = 4000;
  for (int i = 0; i < draws; ++i) {
    const data::SentencePair pair = data::sentence_pair(kDocuments, 0, 1, generator);
    REQUIRE(pair.first == std::vector<std::int64_t>{2, 2});
    if (pair.follows) {
      REQUIRE(pair.second == std::vector<std::int64_t>{3});
      ++follows;
    } else {
      REQUIRE(pair.second[0] >= 4);
      sixes += pair.second[0] == 6 ? 1 : 0;
    }
  }
  const double n = draws, other = draws - follows;
  CHECK(std::abs(follows / n - 0.5) < 5 * std::sqrt(0.25 / n));
  CHECK(std::abs(sixes / other - 0.5) < 5 * std::sqrt(0.25 / other));  // of two other documents
  Generator a(2), b(2);
  for (int i = 0; i < 20; ++i) {
    const auto one = data::sentence_pair(kDocuments, 2, 0, a),
               same = data::sentence_pair(kDocuments, 2, 0, b);
    CHECK(one.second == same.second);
    CHECK(one.follows == same.follows);
  }
}

TEST_CASE("sentence_pair: errors") {
  check_error([] { data::sentence_pair(kDocuments, 4, 0); },
              "sentence_pair: expects a document number below 4, got 4");
  check_error([] { data::sentence_pair(kDocuments, -1, 0); },
              "sentence_pair: expects a document number below 4, got -1");
  check_error([] { data::sentence_pair(kDocuments, 0, 2); },
              "sentence_pair: expects a sentence that another follows, of the 3 in document 0, got 2");
  check_error([] { data::sentence_pair(kDocuments, 0, INT64_MAX); },
              "sentence_pair: expects a sentence that another follows, of the 3 in document 0, got "
              "9223372036854775807");
  check_error([] { data::sentence_pair(kDocuments, 1, 0); },
              "sentence_pair: expects a sentence that another follows, of the 0 in document 1, got 0");
  check_error([] { data::sentence_pair(kDocuments, 0, -1); },
              "sentence_pair: expects a sentence that another follows, of the 3 in document 0, got -1");
  check_error(
      [] {
        Generator generator(1);
        for (int i = 0; i < 100; ++i) data::sentence_pair({{{1}, {2}}, {}}, 0, 0, generator);
      },
      "sentence_pair: expects another document with sentences among the 2 to draw from");
}
