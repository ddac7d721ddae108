#include "translate/training.h"

#include <fmt/format.h>

#include <ctime>

#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/progress.h"
#include "gradus/text/bleu.h"
#include "ranks/ranks.h"
#include "translate/average.h"

namespace gradus::translate {

namespace {

/// Settings that a resumed training must share with the original one.
Metadata settings(const Corpus& training, const Corpus& validation, const Options& o) {
  std::string lines;
  for (const auto* texts : {&training.source, &training.target, &validation.source, &validation.target})
    for (const std::string& text : *texts) lines += text + "\n";
  return {{"texts",
           fmt::format("{} and {} pairs, {}", training.size(), validation.size(), kit::fingerprint(lines))},
          {"--seed", std::to_string(o.seed)},
          {"--placement", nn::placement_named(o.placement).name},
          {"--norm", o.norm},
          {"--layers", std::to_string(o.layers)},
          {"--heads", std::to_string(o.heads)},
          {"--d-model", std::to_string(o.d_model)},
          {"--d-ff", std::to_string(o.d_ff)},
          {"--dropout", fmt::format("{}", o.dropout)},
          {"--vocab", std::to_string(o.vocab)},
          {"--tokens", std::to_string(o.tokens)},
          {"--longest", std::to_string(o.longest)},
          {"--lr", fmt::format("{}", o.lr)},
          {"--warmup", std::to_string(o.warmup_steps())},
          {"--smoothing", fmt::format("{}", o.smoothing)},
          {"--average", std::to_string(o.average)},
          {"--average-every", std::to_string(o.average_every)}};
}

/// CPU seconds of all threads, including earlier parts of a resumed training.
struct CpuClock {
  double before = 0;

  double seconds() const { return before + static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
  StateDict state_dict() const { return {{"seconds", tensor(seconds(), f64)}}; }
  void load_state_dict(const StateDict& state) { before = state.at("seconds").item(); }
};

/// Validation during training.
class Validation {
 public:
  Validation(const Translator& translator, const Corpus& corpus, const Options& options)
      : translator_(translator),
        corpus_(corpus),
        pairs_(tokenized(*translator.tokenizer, corpus, options.longest)),
        tokens_(options.tokens) {
    if (pairs_.size() == 0)
      fail_input_with("--longest {}: every validation pair has more tokens", options.longest);
  }

  struct Weights {
    bool mean = false;  // of the last snapshots; else the model's own weights
    double loss = 0;
  };
  /// The weights that validate better.
  Weights better(const WeightAverage& average) const {
    const Weights own{.loss = loss_over(translator_.model, pairs_, tokens_)};
    if (average.size() == 0) return own;
    const WeightAverage::Use use(average);
    const Weights mean{.mean = true, .loss = loss_over(translator_.model, pairs_, tokens_)};
    return mean.loss < own.loss ? mean : own;
  }

  struct Result {
    double loss = 0, bleu = 0;
  };
  Result operator()(const WeightAverage& average) const {
    const Weights weights = better(average);
    std::optional<WeightAverage::Use> use;
    if (weights.mean) use.emplace(average);
    return {weights.loss, bleu_over(translator_, corpus_, {.beams = 1}, {}).score};
  }

 private:
  const Translator& translator_;
  const Corpus& corpus_;
  Pairs pairs_;
  std::int64_t tokens_;
};

void report(kit::TrainingRun& run, std::int64_t step, const Validation::Result& result, const CpuClock& cpu) {
  const double minutes = run.seconds() / 60;
  run.log({{"validation", result.loss},
           {"bleu", result.bleu},
           {"minutes", minutes},
           {"cpu_seconds", cpu.seconds()}});
  kit::print(fmt::format("step {:>6}  validation {:.4f}  BLEU {:.2f}  after {:.1f} minutes\n", step,
                         result.loss, result.bleu, minutes));
}

constexpr std::int64_t kTimed = 10;  // steps before the number that fits into the time limit is known

/// If the rate is still warming up when the time is over, nothing has been learned.
void warn_of_warmup(kit::TrainingRun& run, double seconds_before, const Options& o) {
  const double left = 60 * o.minutes - seconds_before;
  const double each = (run.seconds() - seconds_before) / kTimed;
  const double steps = static_cast<double>(run.steps_done()) + left / each;
  if (steps < 1.5 * static_cast<double>(o.warmup_steps()))
    run.note(fmt::format("--time {} allows about {:.0f} steps, too few for --warmup {}: choose a smaller one",
                         o.minutes, steps, o.warmup_steps()));
}

}  // namespace

/// How many tokens a loss is a mean over.
static double tokens_in(const Tensor& target) { return (target != kPad).to(f64).sum().item(); }

double loss_over(const nn::Seq2SeqTransformer& model, const Pairs& pairs, std::int64_t tokens) {
  const NoGrad no_grad;
  const nn::EvalMode eval(model);
  double sum = 0, count = 0;
  data::DataLoader<2> loader = batches(pairs, tokens);
  for (const auto& [source, target] : loader) {
    const double here = tokens_in(target);
    sum += here * model.loss(source, target).item();
    count += here;
  }
  return sum / count;
}

text::Bleu bleu_over(const Translator& translator, const Corpus& corpus, const Search& search,
                     const std::function<void(std::size_t)>& done) {
  return text::bleu(translate(translator, corpus.source, search, done), corpus.target);
}

std::string in_words(const text::Bleu& bleu, const Search& search) {
  const auto& p = bleu.precisions;
  return fmt::format(
      "BLEU {:.2f}  {:.1f}/{:.1f}/{:.1f}/{:.1f}  brevity {:.3f}  {} words for {}\n"
      "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp  beams:{} length-penalty:{}",
      bleu.score, p[0], p[1], p[2], p[3], bleu.brevity_penalty, bleu.length, bleu.reference_length,
      search.beams, search.length_penalty);
}

kit::TrainingOptions training_options(const Corpus& training, const Corpus& validation, const Options& o) {
  return {.steps = o.steps,
          .folder = o.run,
          .resume = o.resume,
          .settings = settings(training, validation, o),
          .seconds = 60 * o.minutes,
          .beside = o.evaluate_every <= o.steps ? "validation" : ""};
}

bool train(const distributed::Communicator& world, kit::TrainingRun& run, const Translator& translator,
           const Corpus& training, const Corpus& validation, const Options& o) {
  const nn::Seq2SeqTransformer& model = translator.model;
  const Pairs pairs = tokenized(*translator.tokenizer, training, o.longest);
  if (pairs.left_out > 0)
    kit::print(fmt::format("{} pairs have more than {} tokens and are omitted\n", pairs.left_out, o.longest));
  if (pairs.size() == 0) fail_input_with("--longest {}: every pair has more tokens", o.longest);
  data::DataLoader<2> loader =
      batches(pairs, o.tokens, Generator(static_cast<std::uint64_t>(o.seed), /*stream=*/1));
  optim::Adam opt(model.parameters(),
                  {.lr = optim::inverse_sqrt(o.lr, o.warmup_steps()), .betas = {0.9, 0.98}, .eps = 1e-9});
  WeightAverage average(model, o.average);
  const Validation validate(translator, validation, o);
  CpuClock cpu;
  run.keep("model", model);
  run.keep("optimizer", opt);
  run.keep("loader", loader);
  run.keep("average", average);
  run.keep("cpu", cpu);
  model.train();
  const auto loss_of = [&](const Tensor& source, const Tensor& target) {
    return model.loss(source, target, {.label_smoothing = o.smoothing});
  };
  if (run.steps_done() == 0)
    nn::prepare_(model, [&] {
      const auto [source, target] = loader.next();
      loss_of(source, target);
    });
  ranks::Backward backward(world, model, o.shards, o.seed);
  run.keep("shards", backward);
  const std::int64_t first = run.steps_done();
  const double before = run.seconds();
  const bool finished = run.train([&](std::int64_t step) -> kit::StepResult {
    const auto batch = loader.next();
    opt.zero_grad();
    const double loss = backward(batch[0].size(0), [&](const distributed::Shard& shard) {
      const Tensor target = shard(batch[1]);
      return distributed::Mean{loss_of(shard(batch[0]), target), tokens_in(target)};
    });
    opt.step();
    if (step == first + kTimed && o.minutes > 0) warn_of_warmup(run, before, o);
    if (step % o.average_every == 0) average.take();
    if (step % o.evaluate_every == 0 && world.rank() == 0) report(run, step, validate(average), cpu);
    return {loss, opt.lr()};
  });
  model.eval();
  if (world.rank() > 0) return finished;
  const Validation::Weights best = validate.better(average);
  if (best.mean) WeightAverage::Use(average).stay();
  kit::print(fmt::format("validation {:.4f}, {}\n", best.loss,
                         best.mean ? fmt::format("with the mean of the last {} snapshots", average.size())
                                   : "with the last weights"));
  return finished;
}

}  // namespace gradus::translate
