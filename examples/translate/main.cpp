// A Transformer that translates: trains on two files of sentences, measures BLEU, translates typed sentences.
//
//   ./run example translate --source train.de.gz --target train.en.gz --save de-en [--placement NAME|list]
//   ./run example translate --load de-en [--translate TEXT [--attention FILE.svg]]

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <optional>

#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/progress.h"
#include "ranks/ranks.h"
#include "translate/attention.h"
#include "translate/options.h"
#include "translate/training.h"
#include "translate/translator.h"

namespace {

using namespace gradus;
using namespace gradus::translate;

void print_bleu(const Translator& translator, const Corpus& corpus, const Search& search) {
  kit::Progress progress("translating", static_cast<double>(corpus.size()));
  const text::Bleu bleu = bleu_over(translator, corpus, search,
                                    [&](std::size_t done) { progress.update(static_cast<double>(done)); });
  progress.finish();
  kit::print(fmt::format("{}\n", in_words(bleu, search)));
}

/// Translates each line of stdin; reports a line that cannot be translated and leaves its output empty.
void translate_stdin(const Translator& translator, const Search& search) {
  if (isatty(STDIN_FILENO)) kit::print_error("Type one sentence per line; Ctrl-D ends.\n");
  for (std::string line; std::getline(std::cin, line) && !kit::interrupted();) {
    if (line.ends_with('\r')) line.pop_back();
    std::string translation;
    try {
      translation = translate_line(translator, line, search, "a line");
    } catch (const Error& error) {
      kit::print_error(fmt::format("translate: {}\n", error.what()));
    }
    kit::print_text(translation + "\n");
  }
}

void expect_readable(const Translator& translator, const std::vector<std::string>& texts,
                     const char* option) {
  for (std::size_t i = 0; i < texts.size(); ++i)
    expect_readable(translator, texts[i], fmt::format("{}: line {}", option, i + 1));
}

/// Throws before the training what use() would throw after it.
void expect_usable(const Translator& translator, const Options& o, const std::optional<Corpus>& test) {
  if (test) expect_readable(translator, test->source, "--test-source");
  if (o.translate) expect_readable(translator, *o.translate, "--translate");
  if (o.attention.empty()) return;
  layer_of(translator, o.layer);
  kit::try_output("--attention", o.attention);
}

/// The tasks for an existing model.
void use(const Translator& translator, const Options& o, const std::optional<Corpus>& test) {
  if (test) print_bleu(translator, *test, o.search);
  if (o.translate) kit::print_text(translate_line(translator, *o.translate, o.search, "--translate") + "\n");
  if (!o.attention.empty()) {
    draw_attention(translator, *o.translate, o.search, o.layer, o.attention);
    kit::print_text(fmt::format("attention: {}\n", o.attention.string()));
  }
}

/// The validation corpus: the given one, or a part of the training corpus.
Corpus validation_of(Corpus& training, const Options& o) {
  if (o.validation.given()) return read_corpus(o.validation);
  if (training.size() < 20)
    fail_input_with("--source: has {} sentence{}: expects 20 or more, or --val-source and --val-target",
                    training.size(), training.size() == 1 ? "" : "s");
  return set_apart(training, std::min<std::size_t>(1000, training.size() / 20));
}

int train_and_use(const distributed::Communicator& world, const Options& o) {
  const bool writes = world.rank() == 0;
  if (writes)
    kit::expect_nothing_else("--save", o.save, o.resume ? saved_files() : std::vector<std::string>());
  Corpus training = read_corpus(o.train);
  if (const std::int64_t dropped = drop_empty_pairs(training); dropped > 0)
    kit::print(fmt::format("{} pairs with an empty side are omitted\n", dropped));
  const Corpus validation = validation_of(training, o);
  const std::optional<Corpus> test = o.test.given() ? std::optional(read_corpus(o.test)) : std::nullopt;
  kit::TrainingRun run(ranks::of_rank(world, o.shards, training_options(training, validation, o)));
  const auto tokenizer = learn_vocabulary(training.source, training.target, o.vocab);
  const Translator translator{nn::Seq2SeqTransformer(o.model(tokenizer->vocab_size())), tokenizer};
  expect_readable(translator, validation.source, "--val-source");
  if (writes) expect_usable(translator, o, test);
  kit::print(fmt::format("{} pairs, {} tokens; {}, {} + {} layers, {} parameters\n", training.size(),
                         tokenizer->vocab_size(), translator.model.options().placement.name, o.layers,
                         o.layers, translator.model.num_parameters()));
  std::optional<kit::OutputFolder> folder;
  if (writes) {
    folder.emplace(o.save);
    kit::try_output("--save", o.save / "model.safetensors",
                    static_cast<std::uint64_t>(translator.model.num_parameters()) * sizeof(float));
  }

  kit::catch_interrupts();
  const bool finished = train(world, run, translator, training, validation, o);
  if (!writes) return kit::interrupt_status();
  run.save([&] { save(translator, o.save); });  // first of all: nothing below is as valuable
  kit::end_on_interrupts();
  kit::print_text(fmt::format("model: {}\n", o.save.string()));
  if (!finished) {
    if (o.run.empty())
      kit::print(
          "The model is saved as it was when training stopped; with --run FOLDER a training can be "
          "resumed.\n");
    if (run.kept()) kit::print("Run it again with --resume to continue the training.\n");
    return kit::interrupt_status();
  }
  use(translator, o, test);
  return 0;
}

int run(const distributed::Communicator& world, const Options& o) {
  if (o.threads > 0) set_num_threads(static_cast<int>(o.threads));
  manual_seed(static_cast<std::uint64_t>(o.seed));
  if (o.train.given()) return train_and_use(world, o);
  if (world.rank() > 0) return 0;
  const std::optional<Corpus> test = o.test.given() ? std::optional(read_corpus(o.test)) : std::nullopt;
  const Translator translator = load(o.load);
  expect_usable(translator, o, test);
  use(translator, o, test);
  if (!test && !o.translate) translate_stdin(translator, o.search);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return ranks::run_program("translate", argc, argv, [&](const distributed::Communicator& world) {
    Options options;
    if (const auto status = parse(argc, argv, options)) return *status;
    return run(world, options);
  });
}
