#include "lab/studies/translation/translation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "fabricated.h"
#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "gradus/nn/placements/placements.h"
#include "lab/studies/studies.h"
#include "lab/studies/translation/long_training.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

namespace {

using namespace std::string_literals;

// Python: gzip.compress(b"ein Hund\nzwei\n")
const std::string zipped_lines =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\x4b\xcd\xcc\x53\xf0\x28\xcd\x4b\xe1\xaa\x2a\x4f\xcd\xe4\x02\x00\x53\x10\x7a\x64\x0e\x00\x00\x00"s;

/// Numbers of three digits as words in both languages; every fifth has a long tail.
struct Folder {
  test::ScratchFolder scratch;

  Folder() {
    const std::vector<std::string> de = {"eins", "zwei", "drei", "vier"},
                                   en = {"one", "two", "three", "four"};
    std::string source, target;
    for (std::size_t i = 0; i < 64; ++i) {
      const bool is_long = i % 5 == 4;
      for (const std::size_t digit : {i % 4, i / 4 % 4, i / 16, i % 4}) {
        source += de[digit] + " ";
        target += en[digit] + " ";
      }
      source += is_long ? "und so weiter und so weiter\n" : "!\n";
      target += is_long ? "and so on and so on\n" : "!\n";
    }
    for (const char* part : {"train", "test"}) {
      kit::replace_file(scratch / (part + ".de"s), source);
      kit::replace_file(scratch / (part + ".en"s), target);
    }
  }
};

Measured translated(double bleu) {
  return {.numbers = {{"bleu", bleu}, {"brevity", 1}, {"loss", 3}, {"diverged", 0}},
          .series = {{"losses", std::vector<double>(20, 4)}}};
}

}  // namespace

TEST_CASE("translation: the files of --data, plain or gzip, there or in multi30k") {
  const test::ScratchFolder folder;
  for (const char* name : {"train.en", "test.de", "test.en"})
    kit::replace_file(folder / name, "a dog\ntwo\n");
  CHECK_THROWS_WITH_AS(translation::files_in(folder.path()),
                       doctest::Contains("is not a folder with train.de"), Error);
  kit::replace_file(folder / "train.de.gz", zipped_lines);
  CHECK(translation::files_in(folder.path()).front() == folder / "train.de.gz");
  const translation::Sentences read =
      translation::read_sentences(folder.path(), {.vocabulary = 300, .longest = 20});
  CHECK(read.train.size() == 2);
  CHECK(read.references == std::vector<std::string>{"a dog", "two"});

  const test::ScratchFolder above;
  std::filesystem::create_directory(above / "multi30k");
  for (const auto& file : translation::files_in(folder.path()))
    std::filesystem::copy(file, above / "multi30k" / file.filename());
  CHECK(translation::files_in(above.path()).front() == above / "multi30k" / "train.de.gz");

  kit::replace_file(folder / "test.en", "a dog\n");
  CHECK_THROWS_WITH_AS(translation::read_sentences(folder.path(), {}),
                       doctest::Contains("test.de has 2 lines, "), Error);
}

TEST_CASE("translation: only pairs that are short enough, and the given number for the test") {
  const Folder folder;
  const translation::Sentences all =
      translation::read_sentences(folder.scratch.path(), {.vocabulary = 300, .longest = 8, .test = 10});
  CHECK(all.train.size() == 52);  // of 64
  CHECK(all.test.size() == 10);
  CHECK(all.references.size() == 10);
  CHECK(all.references.front() == "one one one one !");
  CHECK(all.test.source[0].to_vector<std::int64_t>().back() == translation::kEnd);
  // The limit counts tokens of the longer side, without the end token.
  std::int64_t least = 100;
  for (std::size_t i = 0; i < all.train.source.size(); ++i)
    least = std::min(least, std::max(all.train.source[i].size(0), all.train.target[i].size(0)) - 1);
  CHECK(
      translation::read_sentences(folder.scratch.path(), {.vocabulary = 300, .longest = least}).train.size() >
      0);
  CHECK_THROWS_WITH_AS(
      translation::read_sentences(folder.scratch.path(), {.vocabulary = 300, .longest = least - 1}),
      doctest::Contains("has at most "), Error);
}

TEST_CASE("translation: the rate goes up over the warm-up and down to 0, the same without") {
  translation::TrainOptions options{.lr = 1, .warmup = 4, .steps = 10};
  CHECK(translation::rate_at(options, 1) == doctest::Approx(0.25));
  CHECK(translation::rate_at(options, 4) == doctest::Approx(0.7));
  CHECK(translation::rate_at(options, 10) == doctest::Approx(0.1));
  options.warmup = 0;
  CHECK(translation::rate_at(options, 1) == 1);
  CHECK(translation::rate_at(options, 4) == doctest::Approx(0.7));
}

TEST_CASE("translation: a small model learns a small language, the same each time; a wild rate diverges") {
  const Folder folder;
  const translation::Sentences sentences =
      translation::read_sentences(folder.scratch.path(), {.vocabulary = 300, .longest = 8, .test = 10});
  translation::TrainOptions options{.placement = nn::pre_ln(),
                                    .layers = 1,
                                    .d_model = 32,
                                    .heads = 2,
                                    .d_ff = 64,
                                    .lr = 1e-2,
                                    .warmup = 10,
                                    .steps = 150,
                                    .tokens = 128};
  const Measured learned = translation::train_and_translate(sentences, options);
  CHECK(learned.numbers.at("bleu") > 50);
  CHECK(learned.numbers.at("loss") < 0.5);
  CHECK(learned.series.at("losses").size() == 20);
  options.steps = 5;
  const Measured one = translation::train_and_translate(sentences, options);
  CHECK(one.numbers == translation::train_and_translate(sentences, options).numbers);
  CHECK(one.numbers.at("bleu") < learned.numbers.at("bleu"));
  options.seed = 1;
  CHECK(one.numbers != translation::train_and_translate(sentences, options).numbers);
  options.lr = 1e30;
  const Measured wild = translation::train_and_translate(sentences, options);
  CHECK(wild.numbers.at("diverged") == 1);
  CHECK(wild.numbers.at("bleu") == 0);
  CHECK(std::isfinite(wild.numbers.at("loss")));
}

TEST_CASE(
    "translation: BLEU without warm-up over BLEU with it; seeds that learned nothing with it are left out") {
  CHECK(translation::bleu_ratios({2, 8}, {8, 8}) == std::vector<double>{0.25, 1});
  CHECK(translation::bleu_ratios({2, 8}, {0.5, NAN}).empty());
  CHECK(translation::bleu_ratios({0}, {8}) == std::vector<double>{0});  // diverged
}

TEST_CASE("translation: the best rate with warm-up, and the best one without") {
  const Study study = translation_study();
  // Post-LN is best at the higher rate with warm-up; without it, it fails there and is best at the lower
  // rate.
  const StudyResults results = test::fabricated(study, {}, [&](const std::string& run) {
    const bool warm = run.find("-w0-") == std::string::npos, low = run.find("lr0.001-") != std::string::npos;
    return translated(low ? (warm ? 8 : 6) : warm ? 10 : 1);
  });
  const Figures figures = study.figures(results);
  CHECK(figures.at("post-same").front() == doctest::Approx(0.1));
  CHECK(figures.at("post-ratio").front() == doctest::Approx(0.6));
}

TEST_CASE("translation: its measures come from its runs, and the page agrees with them") {
  const Study study = translation_study();
  const auto results = [&](Budget budget, double post_without) {
    return test::fabricated(study, {.budget = budget}, [&](const std::string& run) {
      return translated(run.starts_with("post-w0-") ? post_without : 20);
    });
  };
  for (const Budget budget : {Budget::quick, Budget::full}) {
    const StudyResults made_up = results(budget, 5);
    const Figures figures = study.figures(made_up);
    for (const std::string& id : test::measures_of(study)) {
      CAPTURE(id);
      if (budget == Budget::quick && id.ends_with(".long")) continue;
      REQUIRE(figures.contains(id));
      CHECK(figures.at(id).size() == translation::grid_of(made_up.options).seeds.size());
    }
    CHECK(figures.at("post-ratio").front() == 0.25);
    CHECK(figures.at("pre-ratio").front() == 1);
    CHECK(figures.at("post-same").front() == 0.25);
    CHECK(test::page_of(study, made_up).find("less than half on every seed") != std::string::npos);
    CHECK(test::page_of(study, results(budget, 19)).find("less than half") == std::string::npos);
  }
  const StudyResults few = test::fabricated(
      study, {}, [](const std::string&) { return translated(20); },
      [](const std::string& run) { return run.ends_with("s1"); });
  CHECK(!test::page_of(study, few).empty());
  CHECK(study.figures(few).at("pre-ratio").size() == 1);
}

TEST_CASE("translation: warm-up is not compared where the placements differ with it") {
  const Study study = translation_study();
  const Figures figures =
      study.figures(test::fabricated(study, {.budget = Budget::full}, [](const std::string& run) {
        return translated(run.starts_with("post-") ? 10.87 : 26.17);
      }));
  for (const char* id : {"post-same", "post-ratio", "pre-same", "pre-ratio"})
    CHECK(figures.objections.at(id).why == "the baselines differ: 10.9 and 26.2");
  CHECK(figures.objections.at("post-same").judgement == Judgement::not_decided);
  CHECK(figures.at("post-same").size() == 6);  // still shown
}

namespace {

/// Longer training: `post_with` is Post-LN's BLEU with warm-up at 0.003, its best rate, Pre-LN's is 30;
/// without warm-up Post-LN has 1 above 0.0003, and four fifths there.
StudyResults longer(double post_with) {
  return test::fabricated(translation_study(), {.budget = Budget::full}, [=](const std::string& run) {
    if (!run.starts_with("long-")) return translated(20);
    const double lr = std::atof(run.c_str() + run.find("-lr") + 3);
    const bool post = run.starts_with("long-post"), cold_post = post && run.find("-w0-") != std::string::npos;
    if (cold_post && lr > 5e-4) return translated(1);
    const double best = cold_post ? 3e-4 : 3e-3, top = post ? post_with : 30;
    return translated((cold_post ? 0.8 : 1) * top - 2 * std::abs(std::log10(lr / best)));
  });
}

}  // namespace

TEST_CASE("translation: longer training searches each rate on some seeds and judges it on others") {
  const StudyResults results = longer(29);
  const translation::LongGrid grid = translation::long_grid_of(results.options);
  CHECK(results.complete());
  const translation::LongTraining post(results, grid, "Post-LN"), pre(results, grid, "Pre-LN");
  CHECK(post.rate(true) == 3e-3);
  CHECK(post.rate(false) == 3e-4);
  CHECK(pre.rate(false) == 3e-3);
  CHECK(post.searched(true).runs.size() == 5 + 3 + 2);
  CHECK(post.without_at_same() == std::vector<double>(6, 1.0));
  for (const std::uint64_t seed : grid.judging)
    CHECK(!results.has(translation::long_name("Post-LN", grid.warmup, 1e-3, seed)));

  const Figures figures = translation_study().figures(results);
  CHECK(figures.at("post-same.long") == std::vector<double>(6, 1.0 / 29));
  CHECK(figures.at("post-ratio.long").front() == doctest::Approx(0.8));
  CHECK(figures.at("pre-same.long") == std::vector<double>(6, 1.0));
  CHECK(figures.at("pre-ratio.long") == std::vector<double>(6, 1.0));
  for (const char* id : {"post-same.long", "post-ratio.long", "pre-same.long", "pre-ratio.long"})
    CHECK(!figures.objections.contains(id));
  const std::string page = test::page_of(translation_study(), results);
  CHECK(page.find("With warm-up, Pre-LN has 30 BLEU and Post-LN 29.") != std::string::npos);
}

TEST_CASE("translation: longer training decides nothing with unequal baselines or at the edge of a search") {
  Figures figures = translation_study().figures(longer(10));
  for (const char* id : {"post-same.long", "post-ratio.long", "pre-same.long", "pre-ratio.long"})
    CHECK(figures.objections.at(id).why == "the baselines differ: 10 and 30");
  // The higher the rate, the better.
  const Study study = translation_study();
  figures = study.figures(test::fabricated(study, {.budget = Budget::full}, [](const std::string& run) {
    return translated(30 + std::log10(std::atof(run.c_str() + run.find("-lr") + 3)));
  }));
  CHECK(figures.objections.at("pre-same.long").why == "the search ends at its edge: Post-LN with warm-up");
}

TEST_CASE("translation: the files are read once for all runs, also for those that follow") {
  const Folder folder;
  const translation::Selection selection{.vocabulary = 300, .longest = 8, .test = 10};
  const translation::Corpus corpus = translation::corpus_of(folder.scratch.path(), selection);
  CHECK(corpus == translation::corpus_of(folder.scratch.path(), selection));
  CHECK(corpus != translation::corpus_of(folder.scratch.path(), {.vocabulary = 301}));
  CHECK(corpus->get().test.size() == 10);
}
