#include "lab/training/recall_language.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "gradus/core/error.h"
#include "lab/training/ngram.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

// An independent reader: from the characters so far alone it gives the probability of every character that
// may follow. It shares no code with the language, only the rules: K boxes with V letters each, in order a-z,
// A-Z.
std::map<char, double> what_follows(const std::string& before, int boxes, int things) {
  std::map<char, double> p;
  if (before.size() % 2 == 1) {  // the newline and whole pairs: a digit comes
    for (int box = 0; box < boxes; ++box) p[static_cast<char>('0' + box)] = 1.0 / boxes;
    return p;
  }
  const char box = before.back();
  const std::size_t earlier = before.find(box);
  if (earlier + 1 < before.size()) {
    p[before[earlier + 1]] = 1.0;
    return p;
  }
  for (int thing = 0; thing < things; ++thing) {
    const int letter = (box - '0') * things + thing;
    p[static_cast<char>(letter < 26 ? 'a' + letter : 'A' + letter - 26)] = 1.0 / things;
  }
  return p;
}

std::vector<std::vector<std::int32_t>> documents(const RecallLanguage& language, int count,
                                                 std::uint64_t seed) {
  Generator random(seed);
  std::vector<std::vector<std::int32_t>> texts;
  for (int i = 0; i < count; ++i) {
    texts.push_back(language.vocabulary().encode(std::string_view(language.document(random))));
  }
  return texts;
}

const std::vector<RecallOptions> several = {{4, 6, 32}, {2, 2, 2}, {6, 6, 48}, {10, 5, 64}, {2, 26, 16}};

}  // namespace

TEST_CASE("documents follow the rules") {
  for (const RecallOptions& options : several) {
    const RecallLanguage language(options);
    Generator random(1);
    std::set<char> seen;
    for (int i = 0; i < 300; ++i) {
      const std::string text = language.document(random);
      REQUIRE(text.size() == static_cast<std::size_t>(options.length) + 1);
      REQUIRE(text[0] == '\n');
      std::map<char, char> in_box;
      for (std::size_t place = 1; place < text.size(); place += 2) {
        REQUIRE(in_box.try_emplace(text[place], text[place + 1]).first->second == text[place + 1]);
      }
      seen.insert(text.begin(), text.end());
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == 1 + options.boxes + options.boxes * options.things);
    CHECK(static_cast<std::int64_t>(seen.size()) == language.vocabulary().size());
  }
}

TEST_CASE("the closed form equals the Monte Carlo mean of an independent reader's surprise") {
  for (const RecallOptions& options : several) {
    CAPTURE(options.boxes);
    const RecallLanguage language(options);
    Generator random(2);
    const int count = 4000;
    double sum = 0;
    double sum_of_squares = 0;
    for (int i = 0; i < count; ++i) {
      const std::string text = language.document(random);
      double surprise = 0;
      for (std::size_t place = 1; place < text.size(); ++place) {
        const auto p = what_follows(text.substr(0, place), static_cast<int>(options.boxes),
                                    static_cast<int>(options.things));
        REQUIRE(p.count(text[place]) == 1);  // nothing impossible happens
        surprise -= std::log(p.at(text[place]));
      }
      surprise /= static_cast<double>(options.length);
      sum += surprise;
      sum_of_squares += surprise * surprise;
    }
    const double mean = sum / count;
    const double standard_error = std::sqrt(std::max(sum_of_squares / count - mean * mean, 0.0) / count);
    CHECK(std::abs(mean - language.entropy()) < 4 * standard_error + 1e-9);
    CHECK(standard_error < 0.005);
  }
}

TEST_CASE("the reader's distributions sum to one, and documents are drawn from them") {
  const RecallLanguage language({3, 4, 8});
  Generator random(3);
  std::map<std::string, double> expected;  // of the first two pairs, by the reader
  std::map<std::string, int> counted;
  for (int i = 0; i < 30000; ++i) {
    const std::string text = language.document(random);
    double p = 1;
    for (std::size_t place = 1; place < text.size(); ++place) {
      const auto next = what_follows(text.substr(0, place), 3, 4);
      double total = 0;
      for (const auto& [character, probability] : next) total += probability;
      REQUIRE(total == doctest::Approx(1).epsilon(1e-12));
      if (place <= 4) p *= next.at(text[place]);
    }
    expected[text.substr(1, 4)] = p;
    ++counted[text.substr(1, 4)];
  }
  CHECK(expected.size() == 3 * 4 * (1 + 2 * 4));
  double total = 0;
  for (const auto& [pairs, p] : expected) {
    total += p;
    CHECK(std::abs(counted[pairs] - 30000 * p) < 5 * std::sqrt(30000 * p));
  }
  CHECK(total == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("the entropy is the mean over places") {
  for (const RecallOptions& options : several) {
    const RecallLanguage language(options);
    double sum = 0;
    for (std::int64_t place = 0; place < options.length; ++place) sum += language.entropy_at(place);
    CHECK(sum / static_cast<double>(options.length) == doctest::Approx(language.entropy()).epsilon(1e-12));
  }
  // By hand: ln 2 for each of two digits; the first letter ln 3, the second ln 3 in half of all documents.
  CHECK(RecallLanguage({2, 3, 4}).entropy() == doctest::Approx((2 * std::log(2) + 1.5 * std::log(3)) / 4));
}

TEST_CASE("no n-gram comes near the entropy") {
  for (const RecallOptions& options : {RecallOptions{4, 6, 32}, RecallOptions{6, 6, 48}}) {
    const RecallLanguage language(options);
    const auto train = documents(language, 3000, 4);
    const auto held_out = documents(language, 500, 5);
    const NgramBaseline baseline = best_ngram(train, held_out, language.vocabulary().size());
    CHECK(baseline.losses.size() == 4);
    CHECK(baseline.loss > language.entropy() + 0.4);
    // Before a letter, two or three characters of context show one earlier pair (its letter names its box),
    // so the best such reader knows the letter when that pair has the same box. Counting comes close to its
    // loss.
    const auto boxes = static_cast<double>(options.boxes);
    const double unseen = 1 + (static_cast<double>(options.length) / 2 - 1) * (1 - 1 / boxes);
    const double best = std::log(boxes) / 2 + unseen * std::log(static_cast<double>(options.things)) /
                                                  static_cast<double>(options.length);
    CHECK(baseline.n == 3);
    CHECK(baseline.losses[3] == doctest::Approx(baseline.loss).epsilon(0.01));
    CHECK(baseline.loss == doctest::Approx(best).epsilon(0.02));
  }
}

TEST_CASE("a batch is documents side by side, targets one character on") {
  const RecallLanguage language;
  Generator generator(6), same(6);
  const Batch windows = language.batch(3, generator);
  const std::int64_t length = language.options().length;
  REQUIRE(windows.inputs.shape() == Shape{3, length});
  REQUIRE(windows.targets.shape() == Shape{3, length});
  for (std::int64_t row = 0; row < 3; ++row) {
    const std::string text = language.document(same);
    const Tensor inputs = windows.inputs[row], targets = windows.targets[row];
    CHECK(language.vocabulary().decode(inputs.span<std::int64_t>()) == text.substr(0, text.size() - 1));
    CHECK(language.vocabulary().decode(targets.span<std::int64_t>()) == text.substr(1));
  }
}

TEST_CASE("options outside the limits are refused") {
  CHECK_THROWS_WITH_AS(RecallLanguage({11, 2, 32}), "RecallLanguage: expects 2 to 10 boxes, got 11", Error);
  CHECK_THROWS_WITH_AS(RecallLanguage({1, 2, 32}), "RecallLanguage: expects 2 to 10 boxes, got 1", Error);
  CHECK_THROWS_WITH_AS(RecallLanguage({8, 7, 32}),
                       "RecallLanguage: 8 boxes leave 2 to 6 things for each (52 letters in all), got 7",
                       Error);
  CHECK_THROWS_WITH_AS(
      RecallLanguage({4, 6, 33}),
      "RecallLanguage: expects an even length of at least 2 (boxes and things in pairs), got 33", Error);
  CHECK_THROWS_WITH_AS(RecallLanguage().entropy_at(32), "RecallLanguage: place 32 is outside 0..31", Error);
}

TEST_CASE("a chain: the next box depends on those before it, and surprise() knows the table") {
  const RecallLanguage language({.boxes = 3, .things = 4, .length = 40, .chain = 2});
  Generator random(3);
  std::map<std::string, std::map<char, double>> counts;  // of the box after two others
  std::vector<std::string> texts;
  double surprise = 0;
  for (int i = 0; i < 4000; ++i) {
    texts.push_back(language.document(random));
    surprise += language.surprise(texts.back());
    for (std::size_t at = 5; at < texts.back().size(); at += 2)
      ++counts[{texts.back()[at - 4], texts.back()[at - 2]}][texts.back()[at]];
  }
  CHECK(counts.size() == 9);
  // The same from counts, with independent code that does not know the table.
  double counted = 0, most = 0, least = 1;
  for (const std::string& text : texts) {
    std::set<char> opened;
    for (std::size_t at = 1; at < text.size(); at += 2) {
      double p = 1.0 / 3;
      if (at >= 5) {
        auto& row = counts[{text[at - 4], text[at - 2]}];
        p = row[text[at]] / (row['0'] + row['1'] + row['2']);
        most = std::max(most, p), least = std::min(least, p);
      }
      counted -= std::log(p);
      if (opened.insert(text[at]).second) counted += std::log(4.0);
    }
  }
  CHECK(surprise / 4000 == doctest::Approx(counted / 4000).epsilon(0.002));
  const auto share = [&](const std::string& before) {
    auto& row = counts[before];
    return row['0'] / (row['0'] + row['1'] + row['2']);
  };
  CHECK(std::abs(share("00") - share("10")) + std::abs(share("10") - share("20")) > 0.2);  // of both, not one
  CHECK(most > 0.6);  // it is a chain: some boxes are likely after others
  CHECK(least < 0.1);
  CHECK_THROWS_WITH(language.entropy(), doctest::Contains("mean of surprise()"));
  CHECK_THROWS_WITH(language.surprise("\n0a"), doctest::Contains("1 + 40 characters, got 3"));
  CHECK_THROWS_WITH(RecallLanguage({.chain = 4}), doctest::Contains("a chain of 0 to 3 boxes, got 4"));
}

TEST_CASE("without a chain surprise() has the closed form's mean") {
  const RecallLanguage language;
  Generator random(4);
  double sum = 0;
  for (int i = 0; i < 4000; ++i) sum += language.surprise(language.document(random));
  CHECK(sum / 4000 / 32 == doctest::Approx(language.entropy()).epsilon(0.01));
}
