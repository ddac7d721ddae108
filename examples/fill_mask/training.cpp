#include "fill_mask/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/gradus.h"
#include "gradus/kit/program/language_model.h"

namespace gradus::fill_mask {

namespace {

/// Settings that a resumed training must share with the original one.
Metadata settings(const std::string& text, const Options& o) {
  return {{"--text", kit::fingerprint(text)},
          {"--vocab", std::to_string(o.vocab)},
          {"--steps", std::to_string(o.steps)},
          {"--seed", std::to_string(o.seed)},
          {"--placement", nn::placement_named(o.placement).name},
          {"--norm", nn::norm_named(o.norm).kind},
          {"--layers", std::to_string(o.layers)},
          {"--heads", std::to_string(o.heads)},
          {"--d-model", std::to_string(o.d_model)},
          {"--context", std::to_string(o.context)},
          {"--batch", std::to_string(o.batch)},
          {"--lr", fmt::format("{}", o.lr)},
          {"--warmup", std::to_string(o.warmup)},
          {"--weight-decay", fmt::format("{}", o.weight_decay)},
          {"--clip", fmt::format("{}", o.clip)},
          {"--dropout", fmt::format("{}", o.dropout)},
          {"--masked", fmt::format("{}", o.masked)}};
}

optim::Schedule schedule(const Options& o) {
  return o.steps > o.warmup ? optim::warmup_cosine(o.lr, o.warmup, o.steps)
                            : optim::warmup_linear(o.lr, o.warmup);
}

}  // namespace

kit::TrainingOptions training_options(const std::string& text, const Options& o) {
  return {.steps = o.steps, .folder = o.run(), .resume = o.resume, .settings = settings(text, o)};
}

bool train(kit::TrainingRun& run, const nn::Bert& model, const Corpus& corpus, const Options& o) {
  const Windows windows(corpus, corpus.train, o);
  data::DataLoader loader(
      windows.size(),
      [&](std::int64_t i, Generator& generator) { return windows.masked(i, generator, true); },
      {.batch_size = o.batch,
       .shuffle = true,
       .generator = Generator(static_cast<std::uint64_t>(o.seed), 1)});
  optim::AdamW opt(kit::decay_matrices(model), {.lr = schedule(o), .weight_decay = o.weight_decay});
  run.keep("model", model);
  run.keep("optimizer", opt);
  run.keep("loader", loader);
  model.train();
  const std::vector<Tensor> parameters = model.parameters();
  const auto loss_of_next = [&] {
    const auto [ids, targets] = loader.next();
    return model.loss(ids, {.tokens = targets});
  };
  if (run.steps_done() == 0) nn::prepare_(model, [&] { loss_of_next(); });
  const bool finished = run.train([&](std::int64_t) -> kit::StepResult {
    const Tensor loss = loss_of_next();
    opt.zero_grad();
    loss.backward();
    optim::clip_grad_norm(parameters, o.clip);
    opt.step();
    return {loss.item(), opt.lr()};
  });
  model.eval();
  return finished;
}

Score validate(const nn::Bert& model, const Corpus& corpus, const Options& o) {
  const NoGrad no_grad;
  const nn::EvalMode eval(model);
  const Windows windows(corpus, corpus.validation, o);
  Generator generator(static_cast<std::uint64_t>(o.seed), /*stream=*/2);
  double loss = 0, right = 0, guessed = 0;
  for (std::int64_t i = 0; i < windows.size(); i += o.batch) {
    std::vector<Tensor> ids, targets;
    for (std::int64_t j = i; j < std::min(windows.size(), i + o.batch); ++j) {
      const auto [seen, hidden] = windows.masked(j, generator, false);
      ids.push_back(seen), targets.push_back(hidden);
    }
    const Tensor all = stack(targets), chosen = all != -100, wanted = all[chosen];
    if (wanted.numel() == 0) continue;
    const Tensor logits = model.mlm_logits(model(stack(ids))[chosen]);
    const auto count = static_cast<double>(wanted.numel());
    loss += cross_entropy(logits, wanted).item() * count;
    right += static_cast<double>((logits.argmax(-1) == wanted).sum().item<std::int64_t>());
    guessed += count;
  }
  return guessed == 0 ? Score{} : Score{loss / guessed, right / guessed};
}

}  // namespace gradus::fill_mask
