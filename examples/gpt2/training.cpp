#include "gpt2/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/gradus.h"
#include "gradus/kit/data/text_data.h"
#include "gradus/kit/program/language_model.h"
#include "ranks/ranks.h"

namespace gradus::gpt2 {

namespace {

constexpr std::int64_t kMostValidating = 50'000;

/// Tokens of a window.
std::int64_t window_of(const nn::GPTOptions& model, const Options& o) {
  return o.context.value_or(std::min(model.context, kContext));
}

/// A vocabulary, for the settings; a learned one follows from the text.
std::string in_words(const text::Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return "learned from --text";
  std::string tokens;
  for (std::int64_t id = 0; id < tokenizer->vocab_size(); ++id) {
    try {
      tokens += tokenizer->token(id) + "\n";
    } catch (const Error&) {  // ids may have gaps
      tokens += "\n";
    }
  }
  return kit::fingerprint(tokens);
}

/// Settings that a resumed training must share with the original one.
Metadata settings(const nn::GPTOptions& model, const text::Tokenizer* tokenizer, const std::string& text,
                  const Options& o) {
  return {{"--text", kit::fingerprint(text)},
          {"tokenizer", in_words(tokenizer)},
          {"--new", o.is_new() ? o.kind : "not"},
          {"--vocab", std::to_string(model.vocab)},
          {"--steps", std::to_string(o.steps)},
          {"--seed", std::to_string(o.seed)},
          {"--placement", model.placement.name},
          {"--norm", model.block.new_norm().kind()},
          {"--layers", std::to_string(model.layers)},
          {"--heads", std::to_string(model.block.heads)},
          {"--d-model", std::to_string(model.block.d_model)},
          {"--context", std::to_string(window_of(model, o))},
          {"--batch", std::to_string(o.batch)},
          {"--accumulate", std::to_string(o.accumulate)},
          {"--lr", fmt::format("{}", o.peak_lr())},
          {"--warmup", std::to_string(o.warmup)},
          {"--weight-decay", fmt::format("{}", o.weight_decay)},
          {"--clip", fmt::format("{}", o.clip)},
          {"--dropout", fmt::format("{}", model.block.dropout)}};
}

optim::Schedule schedule(const Options& o) {
  const double lr = o.peak_lr();
  return o.steps > o.warmup ? optim::warmup_cosine(lr, o.warmup, o.steps, lr / 10)
                            : optim::warmup_linear(lr, o.warmup);
}

}  // namespace

Corpus make_corpus(const std::string& text, const Writer& writer, const Options& o) {
  const std::vector<std::int64_t> ids = writer.tokenizer->encode(text);
  const std::int64_t most = writer.model.options().context;
  Corpus corpus;
  corpus.context = window_of(writer.model.options(), o);
  if (corpus.context > most)
    fail_input_with("--context {}: the model sees at most {} tokens", corpus.context, most);
  const std::int64_t validating = std::min(std::ssize(ids) / 10, kMostValidating);
  corpus.train.assign(ids.begin(), ids.end() - validating);
  corpus.validation.assign(ids.end() - validating, ids.end());
  if (validating <= corpus.context)
    fail_input_with(
        "{}: has {} tokens, and its validation part, a tenth, {}: too few for a window of {} plus "
        "one: expects a longer text or a smaller --context",
        o.text.string(), ids.size(), validating, corpus.context);
  return corpus;
}

kit::TrainingOptions training_options(const nn::GPTOptions& model, const text::Tokenizer* tokenizer,
                                      const std::string& text, const Options& o) {
  return {.steps = o.steps,
          .folder = o.run(),
          .resume = o.resume,
          .settings = settings(model, tokenizer, text, o)};
}

bool train(const distributed::Communicator& world, kit::TrainingRun& run, const nn::GPT& model,
           const Corpus& corpus, const Options& o) {
  optim::AdamW opt(kit::decay_matrices(model),
                   {.lr = schedule(o), .betas = {0.9, 0.99}, .weight_decay = o.weight_decay});
  Generator data(static_cast<std::uint64_t>(o.seed), /*stream=*/1);
  run.keep("model", model);
  run.keep("optimizer", opt);
  run.keep("data", data);
  model.train();
  const std::vector<Tensor> parameters = model.parameters();
  const Tensor ids = from_vector(corpus.train);
  const auto draw_batch = [&] { return data::random_windows(ids, o.batch, corpus.context, data); };
  if (o.is_new() && run.steps_done() == 0)
    nn::prepare_(model, [&] {
      const auto [inputs, targets] = draw_batch();
      model.loss(inputs, targets);
    });
  ranks::Backward backward(world, model, o.shards, o.seed);
  run.keep("shards", backward);
  const bool finished = run.train([&](std::int64_t) -> kit::StepResult {
    double mean = 0;
    opt.zero_grad();
    for (std::int64_t pass = 0; pass < o.accumulate; ++pass) {
      const auto batch = draw_batch();
      mean += backward(o.batch, [&](const distributed::Shard& shard) {
        return model.loss(shard(batch[0]), shard(batch[1])) / static_cast<double>(o.accumulate);
      });
    }
    optim::clip_grad_norm(parameters, o.clip);
    opt.step();
    return {mean, opt.lr()};
  });
  model.eval();
  return finished;
}

}  // namespace gradus::gpt2
