// Whole models in f32 and bf16, in the settings of the programs char_gpt, gpt2 and translate, but small, and
// on made-up languages.

#include <fmt/format.h>

#include <cmath>

#include "gradus/core/check.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/studies/precision/precision.h"

namespace gradus::lab::precision {

namespace {

constexpr std::int64_t kSteps = 400, kPairs = 16, kWords = 16, kPad = 0, kEnd = 2, kFirstWord = 3;

MakeOptimizer adamw() {
  return [](const nn::GPT& model, const optim::Schedule& lr) {
    return std::make_unique<optim::AdamW>(
        model.parameters(), optim::AdamWOptions{.lr = lr, .betas = {0.9, 0.95}, .weight_decay = 0.1});
  };
}

/// char_gpt: 4 layers. gpt2: 6, with GPT-2's initial weights, activation and clipping.
Measured measure_gpt(bool gpt2, std::uint64_t seed) {
  TrialOptions options{.layers = gpt2 ? 6 : 4,
                       .block = {.d_model = 64, .heads = 4},
                       .lr = gpt2 ? 1e-3 : 3e-3,
                       .optimizer = adamw(),
                       .clip = gpt2 ? 1.0 : 0.0,
                       .steps = kSteps,
                       .batch = 12,
                       .seed = seed};
  options.schedule = [](double lr) { return optim::warmup_cosine(lr, kSteps / 10, kSteps, lr / 10); };
  const Init init = [gpt2](const nn::GPT& model, std::uint64_t s) {
    Generator generator(s, 0);
    nn::init::gpt2_(model, {.residual_layers = gpt2 ? model.options().layers : 0}, generator);
  };
  nn::GPT model = new_model(recall_task(), options, init);
  return measured_of(train(recall_task(), model, options));
}

struct Pairs {
  Tensor source, target;
};

/// Sentences of 6 to 10 words and their translations: each word has one, and their order is reversed.
Pairs pairs(std::int64_t count, Generator& generator) {
  constexpr std::int64_t kLongest = 10;
  const Tensor source = full({count, kLongest + 1}, kPad, i64), target = source.clone();
  std::int64_t* const from = source.mutable_span<std::int64_t>().data();
  std::int64_t* const to = target.mutable_span<std::int64_t>().data();
  for (std::int64_t row = 0; row < count; ++row) {
    std::int64_t* const words = from + row * (kLongest + 1);
    std::int64_t* const translated = to + row * (kLongest + 1);
    const auto length = 6 + static_cast<std::int64_t>(generator.uniform() * 5);
    for (std::int64_t i = 0; i < length; ++i) {
      const auto word = static_cast<std::int64_t>(generator.uniform() * kWords);
      words[i] = kFirstWord + word;
      translated[length - 1 - i] = kFirstWord + (5 * word + 3) % kWords;
    }
    words[length] = translated[length] = kEnd;
  }
  return {source, target};
}

/// translate: Post-LN, label smoothing in training.
Measured measure_translation(std::uint64_t seed) {
  manual_seed(seed);
  const nn::Seq2SeqTransformer model({.vocab = kFirstWord + kWords,
                                      .encoder_layers = 2,
                                      .decoder_layers = 2,
                                      .block = {.d_model = 64, .heads = 4}});
  optim::Adam adam(model.parameters(),
                   {.lr = optim::warmup_cosine(2e-3, kSteps / 10, kSteps), .betas = {0.9, 0.98}});
  Generator data(seed, 1), unseen(seed, 2);
  const Pairs validation = pairs(256, unseen);
  const auto loss = [&] {
    const NoGrad guard;
    const nn::EvalMode eval(model);
    return model.loss(validation.source, validation.target).item();
  };
  const double start = loss();
  for (std::int64_t step = 0; step < kSteps; ++step) {
    kit::stop_if_interrupted();
    const Pairs batch = pairs(kPairs, data);
    adam.zero_grad();
    model.loss(batch.source, batch.target, {.label_smoothing = 0.1}).backward();
    adam.step();
  }
  return {.numbers = {{"loss", loss()}, {"start", start}}};
}

}  // namespace

const std::vector<Titled>& models() {
  static const std::vector<Titled> all = {
      {"char", "as char_gpt"}, {"gpt2", "as gpt2"}, {"translate", "as translate"}};
  return all;
}

std::string model_name(const std::string& model, bool half, std::uint64_t seed) {
  return fmt::format("model-{}-{}-s{}", model, half ? "bf16" : "f32", seed);
}

Measured measure_model(const std::string& model, bool half, std::uint64_t seed) {
  const Autocast products(half ? bf16 : f32);
  return model == "translate" ? measure_translation(seed) : measure_gpt(model == "gpt2", seed);
}

Runs model_runs(const StudyResults& results, const std::string& model, bool half) {
  return {results, setting_of(results.options).seeds,
          [=](std::uint64_t seed) { return model_name(model, half, seed); }};
}

}  // namespace gradus::lab::precision
