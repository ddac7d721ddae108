#include "translate/translator.h"

#include <doctest/doctest.h>

#include <fstream>

#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "support.h"
#include "toy.h"
#include "translate/attention.h"
#include "translate/training.h"

namespace gradus::translate {

namespace {

const Corpus& texts() {
  static const Corpus corpus = toy_corpus(800, 1);
  return corpus;
}

/// One that has learned the language; shared, as it takes a second.
const Translator& learned() {
  static const Translator translator = [] {
    manual_seed(3);
    const Options o = toy_options();
    const Translator made = toy_translator(texts(), o);
    CHECK(train(made, texts(), toy_corpus(40, 2), o));
    return made;
  }();
  return translator;
}

}  // namespace

TEST_CASE("translate: learns a small language, greedily and with beams") {
  const Corpus test = toy_corpus(60, 3);
  for (const std::int64_t beams : {1, 3}) {
    const auto written = translate::translate(learned(), test.source, {.beams = beams});
    std::int64_t right = 0;
    for (std::size_t i = 0; i < test.size(); ++i) right += written[i] == test.target[i];
    CHECK(right >= 48);  // of 60; repeated words are hard
    CHECK(bleu_over(learned(), test, {.beams = beams}).score > 70);
  }
  CHECK(translate_line(learned(), "zwei Hund", {}, "x") == "two dog");
  CHECK(translate_line(learned(), " \t", {}, "x") == "");
}

TEST_CASE("translate: texts together are translated as one by one, in their order") {
  const Corpus test = toy_corpus(70, 4);  // more than one batch
  for (const std::int64_t beams : {1, 3}) {
    std::vector<std::size_t> heard;
    const auto together = translate::translate(learned(), test.source, {.beams = beams},
                                               [&](std::size_t n) { heard.push_back(n); });
    CHECK(heard == std::vector<std::size_t>{64, 70});
    for (std::size_t i = 0; i < test.size(); i += 7)
      CHECK(together[i] == translate_line(learned(), test.source[i], {.beams = beams}, "x"));
  }
}

TEST_CASE("translate: the same bits for any number of threads") {
  const Options o = [] {
    Options options = toy_options();
    options.steps = 12, options.dropout = 0.1;
    return options;
  }();
  std::vector<StateDict> ends;
  const int before = num_threads();
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    manual_seed(5);
    const Translator made = toy_translator(texts(), o);
    train(made, texts(), toy_corpus(10, 2), o);
    ends.push_back(made.model.state_dict());
  }
  set_num_threads(before);
  for (const auto& [name, weight] : ends[0]) CHECK((weight == ends[1].at(name)).all());
}

TEST_CASE("translate: any placement trains") {
  Options o = toy_options();
  o.steps = 2, o.evaluate_every = 1, o.layers = 2;
  for (const nn::Placement& placement : nn::placements()) {
    if (!placement.decoder_block) continue;
    INFO(placement.name);
    o.placement = placement.name;
    const Translator made = toy_translator(texts(), o);
    CHECK(train(made, toy_corpus(40, 1), toy_corpus(4, 2), o));
  }
}

TEST_CASE("translate: a model comes back from its folder with its tokenizer") {
  const test::ScratchFolder folder;
  save(learned(), folder / "model");
  const Translator loaded = load(folder / "model");
  CHECK(!loaded.model.is_training());
  for (const auto& [name, weight] : learned().model.state_dict())
    CHECK((loaded.model.state_dict().at(name) == weight).all());
  CHECK(translate_line(loaded, "ein Baum", {}, "x") == "a tree");
  // A tokenizer of another model.
  learn_vocabulary(texts().source, texts().target, 300)->save(folder / "model");
  CHECK(complaint_of([&] { load(folder / "model"); }).find("model") != std::string::npos);
  CHECK(complaint_of([&] { load(folder / "none"); }).find("none") != std::string::npos);
}

TEST_CASE("translate: a model's folder holds what is said, and is no place for another one") {
  const test::ScratchFolder folder;
  save(learned(), folder / "model");
  kit::expect_nothing_else("--save", folder / "model", saved_files());
  for (const std::string& name : saved_files()) CHECK(std::filesystem::exists(folder / "model" / name));
  CHECK(complaint_of([&] { kit::expect_nothing_else("--save", folder / "model"); }) != "no error");
}

TEST_CASE("translate: warm-up is a part of the training") {
  Options o;
  CHECK(o.warmup_steps() == 2000);
  o.steps = 400;
  CHECK(o.warmup_steps() == 100);
  o.steps = 8000, o.minutes = 1;
  CHECK(o.warmup_steps() == 60);
  o.minutes = 0.001;
  CHECK(o.warmup_steps() == 1);
  o.minutes = 1e6;
  CHECK(o.warmup_steps() == 2000);
  o.warmup = 7;
  CHECK(o.warmup_steps() == 7);
}

TEST_CASE("translate: a text that is too long is told, not cut") {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "Haus ";
  CHECK(complaint_of([&] {
          translate_line(learned(), text, {}, "--translate");
        }).find("the model reads at most 512: split it into sentences") != std::string::npos);
}

TEST_CASE("translate: a text that is not UTF-8 is told, as in a file") {
  for (const char* text : {"ein\xff", "ein\xc3"})
    CHECK(complaint_of([&] { translate_line(learned(), text, {}, "a line"); }) ==
          "a line is not UTF-8: convert it, with iconv for example");
}

TEST_CASE("attention: what a translation looked at, as numbers and as pictures") {
  const CrossAttention seen = cross_attention(learned(), "zwei Hund läuft", {});
  CHECK(seen.target.back() == "(end)");
  CHECK(seen.source.back() == "(end)");
  CHECK(seen.source[0] == "zwei");
  const Shape shape{1, 2, static_cast<std::int64_t>(seen.target.size()),
                    static_cast<std::int64_t>(seen.source.size())};
  REQUIRE(seen.weights.shape() == shape);
  CHECK(allclose(seen.weights.sum(-1), ones({1, 2, shape[2]})));
  CHECK(seen.weights.mean(1)[0][0].argmax().item<std::int64_t>() < shape[3] - 1);  // a word, not the end

  CHECK(
      cross_attention(learned(), "z\u00e9", {}).source ==
      std::vector<std::string>{"z", "\u00b7\uFFFD", "\u00b7\uFFFD", "(end)"});  // two tokens, half of é each

  const test::ScratchFolder folder;
  draw_attention(learned(), "zwei Hund läuft", {}, 0, folder / "a.svg");
  const std::string svg = kit::read_file(folder / "a.svg");
  CHECK(svg.find("Layer 1, mean of its heads") != std::string::npos);
  CHECK(svg.find("läuft") != std::string::npos);
  draw_attention(learned(), "zwei Hund läuft", {}, 1, folder / "a.html");
  const std::string page = kit::read_file(folder / "a.html");
  CHECK(page.find("Layer 1, head 2") != std::string::npos);
  CHECK(complaint_of([&] { draw_attention(learned(), "ein", {}, 2, folder / "a.svg"); }) ==
        "--layer 2: the decoder has 1");
}

TEST_CASE("batches: every pair once, padded with the pad token, within the tokens") {
  const Translator& translator = learned();
  const Corpus corpus = toy_corpus(100, 9);
  const Pairs pairs = tokenized(*translator.tokenizer, corpus, 100);
  CHECK(pairs.size() == 100);
  std::int64_t rows = 0;
  for (const auto& [source, target] : batches(pairs, 128, Generator(1))) {
    rows += source.size(0);
    CHECK(source.size(0) * std::max(source.size(1), target.size(1)) <= 128);
    CHECK(((source == kEnd).to(i64).sum(1) == 1).all());
    CHECK(((target == kEnd).to(i64).sum(1) == 1).all());
  }
  CHECK(rows == 100);
  CHECK(tokenized(*translator.tokenizer, corpus, 1).left_out > 0);
}

}  // namespace gradus::translate
