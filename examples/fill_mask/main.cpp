// A small BERT: trains on any text file, then fills the [MASK]s of a sentence.
//
//   ./run example fill_mask --text FILE [--steps N] [--placement NAME|list] [--resume]
//   ./run example fill_mask --load FOLDER [--prompt "the [MASK] is dark"]

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "fill_mask/corpus.h"
#include "fill_mask/filling.h"
#include "fill_mask/options.h"
#include "fill_mask/training.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/text_data.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"

namespace {

using namespace gradus;
using fill_mask::Options;

void print_filled(const nn::Bert& model, const text::Tokenizer& tokenizer, const std::string& line,
                  const Options& o) {
  kit::print_text(fill_mask::to_text(fill_mask::fill(model, tokenizer, line, o.top)));
}

/// Fills every line of stdin; errors go to stderr.
void fill_lines(const nn::Bert& model, const text::Tokenizer& tokenizer, const Options& o) {
  const bool asks = isatty(STDIN_FILENO) != 0;
  if (asks) kit::print("Type a sentence with [MASK], such as: the [MASK] is dark. Ctrl-D ends.\n");
  for (std::string line; (asks ? kit::print("> ") : void()), std::getline(std::cin, line);) {
    if (line.empty()) continue;
    try {
      print_filled(model, tokenizer, line, o);
    } catch (const Error& error) {
      kit::print_error(fmt::format("fill_mask: {}\n", error.what()));
    }
  }
  if (asks) kit::print("\n");
}

int fill_with_loaded(const Options& o) {
  const nn::Bert model = nn::Bert::load_pretrained(o.load.string());
  const auto tokenizer = text::load_tokenizer(o.load);
  fill_mask::mask_id(*tokenizer);
  if (!model.options().mlm_head)
    fail_input_with("{}: the model has no head for masked tokens", o.load.string());
  if (o.prompt)
    print_filled(model, *tokenizer, *o.prompt, o);
  else
    fill_lines(model, *tokenizer, o);
  return 0;
}

int train_on_text(const Options& o) {
  if (std::error_code unknown; !std::filesystem::exists(o.run(), unknown))
    kit::expect_nothing_else("--save", o.save);
  const std::string text = kit::read_text(o.text, "--text");
  const kit::OutputFolder folder(o.save);
  kit::TrainingRun training(fill_mask::training_options(text, o));
  const fill_mask::Corpus corpus = fill_mask::make_corpus(text, o);
  const nn::Bert model(o.model(corpus.tokenizer.vocab_size()));
  if (o.prompt) fill_mask::fillable(model, corpus.tokenizer, *o.prompt);  // before the training
  kit::try_output("--save", o.save / "model.safetensors",
                  static_cast<std::uint64_t>(model.num_parameters()) * sizeof(float));
  kit::print(fmt::format("{} tokens, {} different; {}, {} layer{}, {} parameters\n",
                         corpus.train.size() + corpus.validation.size(), corpus.tokenizer.vocab_size(),
                         model.options().placement.name, o.layers, o.layers == 1 ? "" : "s",
                         model.num_parameters()));
  const bool finished = fill_mask::train(training, model, corpus, o);
  training.save([&] {  // first of all: nothing below is as valuable
    model.save_pretrained(o.save.string());
    corpus.tokenizer.save(o.save);
  });
  kit::end_on_interrupts();
  kit::print_text(fmt::format("model: {}\n", o.save.string()));
  if (!finished) {
    if (training.kept()) kit::print("--resume continues it\n");
    return kit::interrupt_status();
  }
  const auto [loss, right] = fill_mask::validate(model, corpus, o);
  kit::print(fmt::format("validation loss: {:.4f}, {:.1f}% of masked tokens right\n", loss, 100 * right));
  if (o.prompt) print_filled(model, corpus.tokenizer, *o.prompt, o);
  return 0;
}

int run(const Options& o) {
  if (o.threads > 0) set_num_threads(static_cast<int>(o.threads));
  manual_seed(static_cast<std::uint64_t>(o.seed));
  return o.text.empty() ? fill_with_loaded(o) : train_on_text(o);
}

}  // namespace

int main(int argc, char** argv) {
  return kit::run_program("fill_mask", [&] {
    Options options;
    if (const auto status = fill_mask::parse(argc, argv, options)) return *status;
    return run(options);
  });
}
