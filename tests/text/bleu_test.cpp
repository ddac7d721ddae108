#include "gradus/text/bleu.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"
#include "text/golden.h"

using namespace gradus;
using namespace gradus::text;
using gradus::test::text_golden;

using Lines = std::vector<std::string>;

TEST_CASE("BLEU: computed by hand") {
  // Precisions 6/7, 4/6, 2/5, 1/4; seven words against six: no penalty.
  const Bleu one = bleu(Lines{"the big cat sat on the mat"}, Lines{"the cat sat on the mat"});
  CHECK(one.matches == std::array<std::int64_t, 4>{6, 4, 3, 2});
  CHECK(one.ngrams == std::array<std::int64_t, 4>{7, 6, 5, 4});
  CHECK(one.brevity_penalty == 1);
  CHECK(one.score == doctest::Approx(100 * std::pow(6. / 7 * 4 / 6 * 3 / 5 * 2 / 4, 0.25)));

  // "the" counts twice only; no 3- and 4-grams match: a half and a quarter of one.
  const Bleu smooth = bleu(Lines{"the the the the the"}, Lines{"the cat and the dog sat"});
  CHECK(smooth.matches == std::array<std::int64_t, 4>{2, 0, 0, 0});
  CHECK(smooth.precisions[0] == doctest::Approx(40));
  CHECK(smooth.precisions[1] == doctest::Approx(100. / (2 * 4)));
  CHECK(smooth.precisions[2] == doctest::Approx(100. / (4 * 3)));
  CHECK(smooth.precisions[3] == doctest::Approx(100. / (8 * 2)));
  CHECK(smooth.brevity_penalty == doctest::Approx(std::exp(1 - 6. / 5)));

  CHECK(bleu(Lines{"a b c d"}, Lines{"a b c d"}).score == doctest::Approx(100));
  CHECK(bleu(Lines{"a b c"}, Lines{"a b c"}).score == 0);  // no 4-gram at all
  CHECK(bleu(Lines{"a b c d"}, Lines{"e f g h"}).score == 0);
  CHECK(bleu(Lines{""}, Lines{"a"}).score == 0);
  CHECK(bleu(Lines{""}, Lines{"a"}).brevity_penalty == 0);
  CHECK(bleu(Lines{""}, Lines{""}).score == 0);
}

TEST_CASE("BLEU: of two references that are equally near in length, the shorter counts") {
  for (const bool longer_first : {true, false}) {
    std::vector<Lines> sets{Lines{"a b c d e f"}, Lines{"a b c d"}};
    if (!longer_first) std::swap(sets[0], sets[1]);
    const Bleu score = bleu(Lines{"a b c d e"}, sets);
    CHECK(score.reference_length == 4);
    CHECK(score.brevity_penalty == 1);
  }
}

TEST_CASE("BLEU: sacreBLEU's own example") {
  const Lines hypotheses{"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
  const std::vector<Lines> sets{
      {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
      {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};
  const Bleu score = bleu(hypotheses, sets);
  CHECK(score.score == doctest::Approx(48.530827).epsilon(1e-8));
  CHECK(score.length == 17);
  CHECK(score.reference_length == 18);
}

TEST_CASE("BLEU: the scores of an independent program, for various lines and one to three references") {
  for (const auto& golden : text_golden()["bleu"]) {
    const Bleu score = bleu(golden["hypotheses"].get<Lines>(), golden["sets"].get<std::vector<Lines>>());
    CHECK(score.score == doctest::Approx(golden["score"].get<double>()).epsilon(1e-12));
    CHECK(score.brevity_penalty == doctest::Approx(golden["penalty"].get<double>()).epsilon(1e-12));
    CHECK(score.length == golden["length"].get<std::int64_t>());
    CHECK(score.reference_length == golden["reference_length"].get<std::int64_t>());
    for (std::size_t n = 0; n < 4; ++n)
      CHECK(score.precisions[n] == doctest::Approx(golden["precisions"][n].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("BLEU: the words of 13a") {
  CHECK(words_13a("1,000 men.") == Lines{"1,000", "men", "."});
  CHECK(words_13a("It's 3-4, (well-known) &quot;A/B&quot; &lt;x&gt;...") ==
        Lines{"It's", "3", "-", "4", ",", "(", "well-known", ")", "\"", "A", "/", "B", "\"", "<", "x", ">",
              ".", ".", "."});
  CHECK(words_13a("a-\nb\nc<skipped>d -\n") == Lines{"ab", "cd", "-"});
  CHECK(words_13a("x\u00A0y\u3000z\x1Fw") == Lines{"x", "y", "z", "w"});
  CHECK(words_13a("x\u0085y\u2029z\x01w") == Lines{"x", "y", "z\x01w"});
  CHECK(words_13a("a{b}~[c]_`\x7F") == Lines{"a", "{", "b", "}", "~", "[", "c", "]", "_", "`", "\x7F"});
  CHECK(words_13a("") == Lines{});
  CHECK(words_13a(" \t\n") == Lines{});
  CHECK(words_13a("\xFF.\xC3") == Lines{"\xFF", ".", "\xC3"});
  for (const auto& line : text_golden()["words_13a"])
    CHECK(words_13a(line[0].get<std::string>()) == line[1].get<Lines>());
}

TEST_CASE("BLEU: errors") {
  CHECK_THROWS_WITH_AS(bleu(Lines{"a", "b"}, Lines{"a"}),
                       "bleu: expects a reference for each hypothesis, got 1 for 2", Error);
  CHECK_THROWS_WITH_AS(bleu(Lines{}, Lines{}), "bleu: there are no hypotheses", Error);
  CHECK_THROWS_WITH_AS(bleu(Lines{"a"}, std::vector<Lines>{}), "bleu: there are no references", Error);
}
