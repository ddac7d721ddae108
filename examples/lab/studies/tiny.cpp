#include "lab/studies/tiny.h"

#include <fmt/format.h>

#include <limits>

namespace gradus::lab {

const Task& tiny_task() {
  static const Task task{RecallOptions{.boxes = 3, .things = 4, .length = 24}};
  return task;
}

TrialOptions tiny_trial(std::int64_t steps) {
  TrialOptions options{.block = {.d_model = 16, .heads = 2},
                       .loss_limit = std::numeric_limits<double>::infinity(),
                       .steps = steps,
                       .batch = 8};
  options.schedule = [steps](double lr) { return optim::warmup_cosine(lr, steps / 10, steps); };
  return options;
}

double tiny_baseline() { return tiny_task().ngram().loss; }

std::string describe_tiny(std::int64_t steps) {
  return fmt::format(
      "Every model has 16 channels, 2 heads and an FFN four times as wide, and is trained for {} steps of 8 "
      "documents with Adam (betas 0.9 and 0.999, no weight decay, no clipping), the rate rising linearly "
      "over the first {} steps and falling to 0 along half a cosine. The task is the recall language with 3 "
      "boxes of 4 things in 24 characters: no model can do better than its entropy, {:.3f} nats per "
      "character; the last few characters alone allow {:.3f}, and a run **learned** if it ended below that. "
      "A run that diverged (a loss that is not finite), or ended above its start, counts with its initial "
      "loss. Losses are measured on 256 documents that no model was trained on.",
      steps, steps / 10, *tiny_task().entropy(), tiny_baseline());
}

Measured measured_of(const TrialResult& result) {
  return {.numbers = {{"loss", result.final_loss},
                      {"start", result.start_loss},
                      {"diverged", result.diverged ? 1.0 : 0.0}}};
}

Measured train_tiny(const TrialOptions& options, std::size_t curve) {
  nn::GPT model = new_model(tiny_task(), options);
  const TrialResult result = train(tiny_task(), model, options);
  Measured measured = measured_of(result);
  if (curve > 0) measured.series["losses"] = thinned(result.losses, curve);
  return measured;
}

}  // namespace gradus::lab
