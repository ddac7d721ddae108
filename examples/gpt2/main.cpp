// GPT-2 and its relatives: generates from pretrained weights, fine-tunes them, or trains new ones.
//
//   ./run example gpt2 --weights FOLDER [--prompt TEXT]
//   ./run example gpt2 [--weights FOLDER] --text FILE [--steps N] [--new KIND] [--placement NAME|list]
//                      [--save FOLDER] [--resume]

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <string>

#include "gpt2/options.h"
#include "gpt2/training.h"
#include "gpt2/writer.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/text_data.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "ranks/ranks.h"

namespace {

using namespace gradus;
using gpt2::Options;
using gpt2::Writer;

/// Prints the prompt and its continuation as they are generated, and the speed on stderr.
void print_text(const Writer& writer, const std::string& prompt, const Options& o, Generator& generator) {
  bool begun = false;
  const gpt2::Written written = gpt2::write(writer, prompt, o, generator, [&](std::string_view piece) {
    if (!begun) kit::print_text(prompt);  // not before it is known to be valid
    begun = true;
    kit::print_text(piece);
  });
  kit::print("\n");
  kit::print_error(fmt::format("{} tokens in {:.2f} s: {:.1f} per second\n", written.tokens, written.seconds,
                               static_cast<double>(written.tokens) / written.seconds));
}

/// Every line of stdin is a prompt; an invalid one is reported on stderr.
void go_on_from_lines(const Writer& writer, const Options& o, Generator& generator) {
  const bool asks = isatty(STDIN_FILENO) != 0;
  if (asks) kit::print("Type a text to continue on each line. Ctrl-D ends.\n");
  for (std::string line; (asks ? kit::print("> ") : void()), std::getline(std::cin, line);) {
    if (line.empty()) continue;
    try {
      print_text(writer, line, o, generator);
    } catch (const Error& error) {
      kit::print_error(fmt::format("gpt2: {}\n", error.what()));
    }
    if (kit::interrupted()) break;
  }
  if (asks) kit::print("\n");
}

Generator generator_of_texts(const Options& o) {
  return Generator(static_cast<std::uint64_t>(o.seed), /*stream=*/2);
}

int write_with_loaded(const Options& o) {
  const Writer writer = gpt2::load(o);
  Generator generator = generator_of_texts(o);
  if (o.prompt)
    print_text(writer, *o.prompt, o, generator);
  else
    go_on_from_lines(writer, o, generator);
  return 0;
}

int train_on_text(const distributed::Communicator& world, const Options& o) {
  const bool writes = world.rank() == 0;
  if (std::error_code unknown; writes && !std::filesystem::exists(o.run(), unknown))
    kit::expect_nothing_else("--save", o.save);
  const std::string text = kit::read_text(o.text, "--text");
  std::optional<kit::OutputFolder> folder;
  if (writes) folder.emplace(o.save);
  const std::optional<Writer> loaded = o.is_new() ? std::nullopt : std::optional(gpt2::load(o));
  const auto tokenizer = loaded ? loaded->tokenizer : gpt2::given_tokenizer(o);
  kit::TrainingRun training(ranks::of_rank(
      world, o.shards,
      gpt2::training_options(loaded ? loaded->model.options() : o.model(o.vocab), tokenizer.get(), text, o)));
  const Writer writer = loaded ? *loaded : gpt2::make(o, tokenizer, text);
  const gpt2::Corpus corpus = gpt2::make_corpus(text, writer, o);
  const nn::GPT& model = writer.model;
  if (writes)
    kit::try_output("--save", o.save / "model.safetensors",
                    static_cast<std::uint64_t>(model.num_parameters()) * sizeof(float));
  kit::print(fmt::format("{} tokens, {} distinct; {}, {} layer{}, {} parameters\n",
                         corpus.train.size() + corpus.validation.size(), writer.tokenizer->vocab_size(),
                         model.options().placement.name, model.options().layers,
                         model.options().layers == 1 ? "" : "s", model.num_parameters()));
  double before = 0;
  if (writes) {
    before = kit::loss_over(model, corpus.validation, corpus.context);
    kit::print(fmt::format("validation loss before: {:.4f}\n", before));
  }
  const bool finished = gpt2::train(world, training, model, corpus, o);
  if (!writes) return kit::interrupt_status();
  training.save([&] { gpt2::save(writer, o.save); });  // first of all: nothing below is as valuable
  kit::end_on_interrupts();
  kit::print_text(fmt::format("model: {}\n", o.save.string()));
  if (!finished) {
    if (training.kept()) kit::print("--resume continues it\n");
    return kit::interrupt_status();
  }
  const double after = kit::loss_over(model, corpus.validation, corpus.context);
  kit::print(fmt::format("validation loss: {:.4f}, before {:.4f}\n", after, before));
  Generator generator = generator_of_texts(o);
  if (o.prompt) print_text(writer, *o.prompt, o, generator);
  return 0;
}

int run(const distributed::Communicator& world, const Options& o) {
  if (o.threads > 0) set_num_threads(static_cast<int>(o.threads));
  manual_seed(static_cast<std::uint64_t>(o.seed));
  if (!o.text.empty()) return train_on_text(world, o);
  return world.rank() > 0 ? 0 : write_with_loaded(o);
}

}  // namespace

int main(int argc, char** argv) {
  return ranks::run_program("gpt2", argc, argv, [&](const distributed::Communicator& world) {
    Options options;
    if (const auto status = gpt2::parse(argc, argv, options)) return *status;
    return run(world, options);
  });
}
