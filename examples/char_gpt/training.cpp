#include "char_gpt/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "char_gpt/profiling.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/language_model.h"
#include "ranks/ranks.h"

namespace gradus::char_gpt {

namespace {

/// Settings that a resumed training must share with the original one.
Metadata settings(const nn::GPTOptions& model, const kit::TextData& text, const Options& o) {
  const kit::Vocabulary& vocabulary = text.vocabulary;
  std::vector<std::int32_t> all(static_cast<std::size_t>(vocabulary.size()));
  std::iota(all.begin(), all.end(), 0);
  return {{"--text", kit::fingerprint(vocabulary.decode(text.train) + vocabulary.decode(text.validation))},
          {"vocabulary", kit::fingerprint(vocabulary.decode(std::span<const std::int32_t>(all)))},
          {"--steps", std::to_string(o.steps)},
          {"--seed", std::to_string(o.seed)},
          {"--placement", model.placement.name},
          {"--norm", model.block.new_norm().kind()},
          {"--layers", std::to_string(model.layers)},
          {"--heads", std::to_string(model.block.heads)},
          {"--d-model", std::to_string(model.block.d_model)},
          {"--context", std::to_string(model.context)},
          {"--batch", std::to_string(o.batch)},
          {"--lr", fmt::format("{}", o.lr)},
          {"--warmup", std::to_string(o.warmup)},
          {"--weight-decay", fmt::format("{}", o.weight_decay)},
          {"--clip", fmt::format("{}", o.clip)},
          {"--dropout", fmt::format("{}", o.dropout)}};
}

}  // namespace

kit::TrainingOptions training_options(const nn::GPTOptions& model, const kit::TextData& text,
                                      const Options& o) {
  if (o.steps == 0) return {};
  return {.steps = o.steps, .folder = o.run, .resume = o.resume, .settings = settings(model, text, o)};
}

void train(const distributed::Communicator& world, kit::TrainingRun& run, const nn::GPT& model,
           const kit::TextData& text, const Options& o) {
  const auto schedule = o.steps > o.warmup ? optim::warmup_cosine(o.lr, o.warmup, o.steps, o.least_lr)
                                           : optim::warmup_linear(o.lr, o.warmup);
  optim::AdamW opt(kit::decay_matrices(model),
                   {.lr = schedule, .betas = {0.9, 0.99}, .weight_decay = o.weight_decay});
  Generator data(static_cast<std::uint64_t>(o.seed), /*stream=*/1);
  const Tensor ids = text.train;
  // [range]
  const auto draw_batch = [&] {
    const ProfileRange range("batch");
    return data::random_windows(ids, o.batch, o.context, data);
  };
  // [/range]
  const std::vector<Tensor> parameters = model.parameters();
  run.keep("model", model);
  run.keep("optimizer", opt);
  run.keep("data", data);
  model.train();
  if (run.steps_done() == 0)
    nn::prepare_(model, [&] {
      const auto [inputs, targets] = draw_batch();
      model.loss(inputs, targets);
    });
  ranks::Backward backward(world, model, o.shards, o.seed);
  run.keep("shards", backward);
  const bool prints = world.rank() == 0;
  StepProfiler profiler(prints && o.profile, prints ? o.trace : "");
  const std::int64_t before = run.steps_done();
  run.train([&](std::int64_t step) -> kit::StepResult {
    profiler.before_step(step - before);
    const TensorArray<2> batch = draw_batch();
    opt.zero_grad();
    const double loss = backward(o.batch, [&](const distributed::Shard& shard) {
      return model.loss(shard(batch[0]), shard(batch[1]));
    });
    optim::clip_grad_norm(parameters, o.clip);
    opt.step();
    profiler.after_step(step - before);
    return {loss, opt.lr()};
  });
  profiler.finish();
  model.eval();
}

}  // namespace gradus::char_gpt
