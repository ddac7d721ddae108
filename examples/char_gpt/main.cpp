// A character-level GPT: trains on any text file, saves its weights, writes a sample.
//
//   ./run example char_gpt --text FILE [--steps N] [--seed N] [--placement NAME|list] [--norm NAME|list]
//                          [--run FOLDER [--resume]]
//   mpirun -n 4 ./run example char_gpt --text FILE --shards 8

#include <fmt/format.h>

#include <optional>

#include "char_gpt/model_file.h"
#include "char_gpt/options.h"
#include "char_gpt/training.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "ranks/ranks.h"

namespace {

using namespace gradus;
using char_gpt::Options;

/// A text as a vocabulary's ids; throws at the first unknown character, naming its place and the
/// vocabulary's source.
kit::Tokens encoded(const kit::Vocabulary& vocabulary, const std::string& text, const std::string& who,
                    const Options& o) {
  try {
    return vocabulary.encode(text);
  } catch (const Error& error) {
    fail_input_with("{}: {} of {}", who, error.what(), (o.load.empty() ? o.text : o.load).string());
  }
}

void print_sample(const char_gpt::LoadedModel& loaded, const Options& o) {
  if (o.sample == 0) return;
  const auto& [model, vocabulary] = loaded;
  // Without a prompt the sample starts with a newline, or else the vocabulary's first character.
  const bool has_newline = vocabulary.characters().find(U'\n') != std::u32string::npos;
  const std::vector<std::int32_t> prompt = !o.prompt.empty() ? encoded(vocabulary, o.prompt, "--prompt", o)
                                           : has_newline     ? vocabulary.encode("\n")
                                                             : std::vector{0};
  const Tensor start = from_vector(std::vector<std::int64_t>(prompt.begin(), prompt.end()),
                                   {static_cast<std::int64_t>(prompt.size())});
  Generator generator(static_cast<std::uint64_t>(o.seed), /*stream=*/2);
  const Tensor text = model.generate(start, o.sample,
                                     {.temperature = o.temperature,
                                      .top_k = o.top_k,
                                      .top_p = o.top_p,
                                      .repetition_penalty = o.repetition_penalty,
                                      .generator = &generator});
  kit::print_text(vocabulary.decode(text.span<std::int64_t>()) + "\n");
}

/// The text in another model's ids.
kit::TextData in_numbers_of(const kit::Vocabulary& vocabulary, const kit::TextData& text, const Options& o) {
  const auto convert = [&](const std::vector<std::int32_t>& tokens) {
    return encoded(vocabulary, text.vocabulary.decode(std::span(tokens)), "--text: " + o.text.string(), o);
  };
  return {vocabulary, convert(text.train), convert(text.validation)};
}

/// Checks before training, as far as possible, that its files can be written afterwards.
void try_outputs(const Options& o, std::uint64_t bytes) {
  if (o.steps == 0) return;
  kit::try_output("--save", o.save, bytes);
  if (!o.trace.empty()) kit::try_output("--trace", o.trace);
}

int train_on_text(const distributed::Communicator& world, Options o) {
  const bool writes = world.rank() == 0;
  if (writes) try_outputs(o, 1);
  std::optional<char_gpt::LoadedModel> loaded;
  if (!o.load.empty()) loaded.emplace(char_gpt::load_model(o.load, o));
  if (loaded) o.context = loaded->model.options().context;
  kit::TextData text = kit::split_text(kit::read_text(o.text, "--text"), o.context, 0.9, o.text.string());
  if (loaded)
    text = in_numbers_of(loaded->vocabulary, text, o);
  else
    loaded.emplace(char_gpt::LoadedModel{nn::GPT(o.model(text.vocabulary.size())), text.vocabulary});
  const nn::GPT& model = loaded->model;
  encoded(loaded->vocabulary, o.prompt, "--prompt", o);  // before the training
  if (writes) try_outputs(o, static_cast<std::uint64_t>(model.num_parameters()) * sizeof(float));

  kit::TrainingRun run(ranks::of_rank(world, o.shards, char_gpt::training_options(model.options(), text, o)));
  kit::print(fmt::format("{} characters, {} different; {}, {} layer{}, {} parameters\n",
                         text.train.size() + text.validation.size(), text.vocabulary.size(),
                         model.options().placement.name, model.options().layers,
                         model.options().layers == 1 ? "" : "s", model.num_parameters()));
  if (o.steps > 0) {
    kit::catch_interrupts();
    char_gpt::train(world, run, model, text, o);
    if (!writes) return kit::interrupt_status();
    // First of all: nothing below is as valuable.
    run.save([&] {
      if (o.named)
        char_gpt::save_model(o.save, model, text.vocabulary);
      else  // a name that was free before training may be taken now
        o.save = char_gpt::save_beside(Options().save, model, text.vocabulary);
    });
    kit::end_on_interrupts();
    kit::print_text(fmt::format("weights: {}\n", o.save.string()));
    if (kit::interrupted()) return kit::interrupt_status();
  }
  kit::print(fmt::format("validation loss: {:.4f}\n",
                         kit::loss_over(model, text.validation, model.options().context)));
  print_sample(*loaded, o);
  return 0;
}

int run(const distributed::Communicator& world, const Options& o) {
  if (o.threads > 0) set_num_threads(static_cast<int>(o.threads));
  manual_seed(static_cast<std::uint64_t>(o.seed));
  if (!o.text.empty()) return train_on_text(world, o);
  if (world.rank() > 0) return 0;
  print_sample(char_gpt::load_model(o.load), o);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return ranks::run_program("char_gpt", argc, argv, [&](const distributed::Communicator& world) {
    Options options;
    if (const auto status = char_gpt::parse(argc, argv, options)) return *status;
    return run(world, options);
  });
}
