// A character-level GPT: trains on any text file, saves its weights, writes a sample.
//
//   ./run example char_gpt --text FILE [--steps N] [--seed N] [--placement pre|post]

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "char_gpt/model_file.h"
#include "char_gpt/options.h"
#include "char_gpt/training.h"
#include "gradus/gradus.h"
#include "kit/interrupt.h"

namespace {

using namespace gradus;
using char_gpt::Options;

void print_sample(const char_gpt::LoadedModel& loaded, const Options& o) {
  if (o.sample == 0) return;
  const auto& [model, vocabulary] = loaded;
  // Without a prompt the sample starts a new line, or with the first character there is.
  const bool has_newline = vocabulary.characters().find(U'\n') != std::u32string::npos;
  const std::vector<std::int32_t> prompt = !o.prompt.empty() ? vocabulary.encode(o.prompt)
                                           : has_newline     ? vocabulary.encode("\n")
                                                             : std::vector{0};
  const Tensor start = from_vector(std::vector<std::int64_t>(prompt.begin(), prompt.end()),
                                   {static_cast<std::int64_t>(prompt.size())});
  Generator generator(static_cast<std::uint64_t>(o.seed), /*stream=*/2);
  const Tensor text = model.generate(
      start, o.sample, {.temperature = o.temperature, .top_k = o.top_k, .generator = &generator});
  fmt::print("{}\n", vocabulary.decode(text.span<std::int64_t>()));
}

/// The text in another model's numbers; throws naming the first character that model does not know.
kit::TextData in_numbers_of(const kit::Vocabulary& vocabulary, const kit::TextData& text) {
  const auto convert = [&](const std::vector<std::int32_t>& tokens) {
    return vocabulary.encode(text.vocabulary.decode(std::span(tokens)));
  };
  return {vocabulary, convert(text.train), convert(text.validation)};
}

void train_on_text(Options o) {
  std::optional<char_gpt::LoadedModel> loaded;
  if (!o.load.empty()) loaded.emplace(char_gpt::load_model(o.load));
  if (loaded) o.context = loaded->model.options().context;
  kit::TextData text = kit::load_text(o.text, o.context);
  if (loaded)
    text = in_numbers_of(loaded->vocabulary, text);
  else
    loaded.emplace(char_gpt::LoadedModel{nn::GPT(o.model(text.vocabulary.size())), text.vocabulary});
  const nn::GPT& model = loaded->model;

  fmt::print("{} characters, {} different; {}-LN, {} layers, {} parameters\n",
             text.train.size() + text.validation.size(), text.vocabulary.size(),
             model.options().placement == nn::Placement::pre ? "Pre" : "Post", model.options().layers,
             model.num_parameters());
  char_gpt::train(model, text, o);
  const double loss = char_gpt::loss_over(model, text.validation);
  if (o.steps > 0) {
    char_gpt::save_model(o.save, model, text.vocabulary);
    fmt::print("weights: {}\n", o.save.string());
  }
  fmt::print("validation loss: {:.4f}\n", loss);
  print_sample(*loaded, o);
}

void run(const Options& o) {
  if (o.threads > 0) set_num_threads(static_cast<int>(o.threads));
  manual_seed(static_cast<std::uint64_t>(o.seed));
  if (o.text.empty())
    print_sample(char_gpt::load_model(o.load), o);
  else
    train_on_text(o);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const auto status = char_gpt::parse(argc, argv, options)) return *status;
  try {
    kit::catch_interrupts();
    run(options);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "char_gpt: {}\n", error.what());
    return 1;
  }
}
