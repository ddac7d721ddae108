#include "lab/training/trial.h"

#include <cctype>
#include <cmath>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/gradus.h"
#include "gradus/kit/program/interrupt.h"

namespace gradus::lab {

namespace {

// A loss this many times that of guessing evenly is called divergence and ends the trial.
constexpr double kDiverged = 4;

// Streams of a seed: independent sequences of random numbers.
enum Stream : std::uint64_t { kWeights, kData };

/// Matrices N(0, 1/fan_in), which is Xiong et al.'s N(0, 1/d) where they are square; embeddings N(0, 1/d), so
/// the tied head, which reads a normalised stream, starts with logits of about 1. It is not the setting of
/// their Lemma 2: the stream begins as the sum of two embeddings, |x|^2 of about 2 and not d, the activation
/// is GELU, and queries and keys are drawn like the rest. Gains start at 1, other numbers of a placement,
/// such as ReZero's, at its own values.
void lab_init(const nn::GPT& model, std::uint64_t seed) {
  Generator generator(seed, kWeights);
  for (const auto& [name, w] : model.named_parameters()) {
    if (name.ends_with("bias"))
      nn::init::zeros_(w);
    else if (w.dim() >= 2)
      nn::init::normal_(w, 0, 1 / std::sqrt(static_cast<double>(w.size(-1))), generator);
  }
}

optim::Schedule schedule_of(const TrialOptions& options) {
  return options.schedule ? options.schedule(options.lr) : optim::warmup_linear(options.lr, options.warmup);
}

}  // namespace

std::string name_of(const nn::Placement& placement) {
  std::string name;
  for (const char c : short_title_of(placement))
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::string short_title_of(const nn::Placement& placement) {
  const std::string& title = placement.name;
  return title.ends_with("-LN") ? title.substr(0, title.size() - 3) : title;
}

const Task& recall_task() {
  static const Task task{RecallOptions{}};
  return task;
}

MakeOptimizer adam(double beta2) {
  return [beta2](const nn::GPT& model, const optim::Schedule& lr) {
    return std::make_unique<optim::Adam>(model.parameters(),
                                         optim::AdamOptions{.lr = lr, .betas = {0.9, beta2}});
  };
}

Objective z_loss(double weight) {
  return [weight](const nn::GPT& model, const Batch& batch) {
    const Tensor logits = model(batch.inputs);
    return cross_entropy(logits, batch.targets) + weight * logsumexp(logits, -1).pow(2).mean();
  };
}

void start_weights(const nn::GPT& model, const TrialOptions& options, const Batch& first, const Init& init) {
  (init ? init : lab_init)(model, options.seed);
  if (options.placement.init) {
    manual_seed(options.seed);  // of this thread's generator, which it draws from
    options.placement.init(model.transformer, model.transformer.options().block);
  }
  const auto pass = [&] { model.loss(first.inputs, first.targets); };
  if (nn::prepare_(model, pass)) return;
  const NoGrad guard;  // one pass for all: the running statistics of BatchNorm begin with it
  pass();
}

nn::GPT new_model(const Task& task, const TrialOptions& options, const Init& init) {
  nn::GPT gpt({.vocab = task.vocabulary().size(),
               .context = task.context(),
               .layers = options.layers,
               .placement = options.placement,
               .block = options.block,
               .positions = options.positions,
               .final_norm = options.final_norm,
               .residual_init_scaling = false});
  start_weights(gpt, options, first_batch(task, options), init);
  return gpt;
}

Batch first_batch(const Task& task, const TrialOptions& options) {
  Generator data(options.seed, kData);
  return task.batch(options.batch, data);
}

double validation_loss(const nn::GPT& model, const Task& task) {
  const NoGrad guard;
  const nn::EvalMode eval(model);
  return model.loss(task.validation().inputs, task.validation().targets).item();
}

double steps_to(const std::vector<double>& losses, double target) {
  double sum = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    sum += losses[i];
    if (i >= kSmoothing) sum -= losses[i - kSmoothing];
    if (i + 1 >= kSmoothing && sum / kSmoothing <= target) return static_cast<double>(i + 1);
  }
  return NAN;
}

Trial::Trial(const Task& task, nn::GPT& model, TrialOptions options)
    : task_(task),
      model_(model),
      options_(std::move(options)),
      optimizer_(options_.optimizer(model, schedule_of(options_))),
      data_(options_.seed, kData),
      start_loss_(validation_loss(model, task)) {}

bool Trial::is_wild(double loss) const {
  const double guessing = std::log(static_cast<double>(task_.vocabulary().size()));
  return !std::isfinite(loss) || loss > options_.loss_limit.value_or(kDiverged * guessing);
}

void Trial::step(const std::function<void(const TrialStep&)>& on_step) {
  check(!done(), "Trial: all {} steps are made", losses_.size());
  const Batch batch = task_.batch(options_.batch, data_);
  const Tensor loss =
      options_.objective ? options_.objective(model_, batch) : model_.loss(batch.inputs, batch.targets);
  losses_.push_back(loss.item());
  diverged_ = is_wild(loss.item());
  optimizer_->zero_grad();
  loss.backward();
  if (on_step) on_step({.step = std::ssize(losses_), .loss = loss.item(), .model = model_});
  if (options_.clip > 0) optim::clip_grad_norm(model_.parameters(), options_.clip);
  if (!diverged_) optimizer_->step();
}

TrialResult Trial::result() const {
  TrialResult result{.start_loss = start_loss_, .diverged = diverged_, .losses = losses_};
  result.end_loss = diverged_ ? NAN : validation_loss(model_, task_);
  if (is_wild(result.end_loss)) result.diverged = true;
  result.final_loss =
      std::isfinite(result.end_loss) ? std::min(result.end_loss, result.start_loss) : result.start_loss;
  return result;
}

TrialResult train(const Task& task, nn::GPT& model, const TrialOptions& options,
                  const std::function<void(const TrialStep&)>& on_step) {
  Trial trial(task, model, options);
  while (!trial.done()) {
    kit::stop_if_interrupted();
    trial.step(on_step);
  }
  return trial.result();
}

}  // namespace gradus::lab
