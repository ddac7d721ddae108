namespace l2_in_the_gradient {
using solution::split;
using solution::stop_early;
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  return solution::adamw_step(w, w.dim() > 1 ? g + decay * w : g, moments, t, lr, b1, b2, eps, 0);
}
}  // namespace l2_in_the_gradient
MUTANT(l2_in_the_gradient, "the decay is not divided by sqrt(v)", "the moments are those of the gradient",
       "the rate scales the decay")

namespace decay_in_the_numerator {
using solution::split;
using solution::stop_early;
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  const Tensor next = solution::adamw_step(w, g, moments, t, lr, b1, b2, eps, 0);
  const Tensor vhat = moments.v / (1 - std::pow(b2, t));
  return w.dim() > 1 ? next - lr * decay * w / (vhat.sqrt() + eps) : next;
}
}  // namespace decay_in_the_numerator
MUTANT(decay_in_the_numerator, "the decay is not divided by sqrt(v)", "the rate scales the decay")

namespace decay_without_the_rate {
using solution::split;
using solution::stop_early;
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  return solution::adamw_step(w, g, moments, t, lr, b1, b2, eps, decay / lr);
}
}  // namespace decay_without_the_rate
MUTANT(decay_without_the_rate, "the decay is not divided by sqrt(v)", "the rate scales the decay")

namespace decays_the_new_weights {
using solution::split;
using solution::stop_early;
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  const Tensor next = solution::adamw_step(w, g, moments, t, lr, b1, b2, eps, 0);
  return w.dim() > 1 ? (1 - lr * decay) * next : next;
}
}  // namespace decays_the_new_weights
MUTANT(decays_the_new_weights, "the decay is not divided by sqrt(v)", "a weight 0 has no decay")

namespace decays_everything {
using solution::split;
using solution::stop_early;
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  return solution::adamw_step(w, g, moments, t, lr, b1, b2, eps, 0) - lr * decay * w;
}
}  // namespace decays_everything
MUTANT(decays_everything, "gains and biases have no decay")

namespace uncorrected {
using solution::split;
using solution::stop_early;
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int, double lr, double b1, double b2,
                  double eps, double decay) {
  return solution::adamw_step(w, g, moments, 1000000, lr, b1, b2, eps, decay);
}
}  // namespace uncorrected
MUTANT(uncorrected, "the decay is not divided by sqrt(v)", "a weight 0 has no decay",
       "without decay it is Adam")

/// Trains as the solution does, with mistakes to choose from.
int stop_with(const Run& run, int patience, int most, double slack, bool copy, bool restore) {
  Tensor best = copy ? run.w.clone() : run.w;
  double least = INFINITY;
  int of_best = 0;
  for (int epoch = 1; epoch <= most && epoch - of_best <= patience; ++epoch) {
    run.epoch();
    const double loss = run.validation_loss();
    if (loss < least + slack) least = loss, of_best = epoch, best = copy ? run.w.clone() : run.w;
  }
  if (restore) run.w.copy_(best);
  return of_best;
}

namespace last_weights {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int most) {
  return stop_with(run, patience, most, 0, true, false);
}
}  // namespace last_weights
MUTANT(last_weights, "the best weights come back")

namespace shares_memory {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int most) {
  return stop_with(run, patience, most, 0, false, true);
}
}  // namespace shares_memory
MUTANT(shares_memory, "the best weights come back")

namespace one_epoch_too_many {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int most) {
  return solution::stop_early(run, patience + 1, most);
}
}  // namespace one_epoch_too_many
MUTANT(one_epoch_too_many, "the best weights come back", "training ends when patience is used up",
       "a new best loss starts the count again", "a loss is compared with the lowest",
       "an equal loss is no new best", "NaN is no new best")

namespace counts_all_bad_epochs {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int most) {
  Tensor best = run.w.clone();
  double least = INFINITY;
  int of_best = 0;
  for (int epoch = 1, bad = 0; epoch <= most && bad < patience; ++epoch) {
    run.epoch();
    const double loss = run.validation_loss();
    if (loss < least)
      least = loss, of_best = epoch, best = run.w.clone();
    else
      ++bad;
  }
  run.w.copy_(best);
  return of_best;
}
}  // namespace counts_all_bad_epochs
MUTANT(counts_all_bad_epochs, "a new best loss starts the count again", "NaN is no new best")

namespace compares_with_the_epoch_before {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int most) {
  Tensor best = run.w.clone();
  double least = INFINITY, before = INFINITY;
  int of_best = 0;
  for (int epoch = 1, bad = 0; epoch <= most && bad < patience; ++epoch) {
    run.epoch();
    const double loss = run.validation_loss();
    bad = loss < before ? 0 : bad + 1;
    before = loss;
    if (loss < least) least = loss, of_best = epoch, best = run.w.clone();
  }
  run.w.copy_(best);
  return of_best;
}
}  // namespace compares_with_the_epoch_before
MUTANT(compares_with_the_epoch_before, "a loss is compared with the lowest", "NaN is no new best")

namespace takes_equal_losses {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int most) {
  return stop_with(run, patience, most, 1e-9, true, true);
}
}  // namespace takes_equal_losses
MUTANT(takes_equal_losses, "an equal loss is no new best")

namespace never_gives_up {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int) { return solution::stop_early(run, patience, 1000); }
}  // namespace never_gives_up
MUTANT(never_gives_up, "there are at most so many epochs")

namespace takes_the_first_loss {
using solution::adamw_step;
using solution::split;
int stop_early(const Run& run, int patience, int most) {
  run.epoch();
  Tensor best = run.w.clone();
  double least = run.validation_loss();
  int of_best = 1;
  for (int epoch = 2; epoch <= most && epoch - of_best <= patience; ++epoch) {
    run.epoch();
    const double loss = run.validation_loss();
    if (loss < least) least = loss, of_best = epoch, best = run.w.clone();
  }
  run.w.copy_(best);
  return of_best;
}
}  // namespace takes_the_first_loss
MUTANT(takes_the_first_loss, "NaN is no new best")

namespace windows_first {
using solution::adamw_step;
using solution::stop_early;
Split split(int tokens, int held_out, int context) {
  Split result;
  for (int s = 0; s + context < tokens; ++s)
    (s < tokens - held_out ? result.train : result.valid).push_back(s);
  return result;
}
}  // namespace windows_first
MUTANT(windows_first, "no input is in both parts", "no target is in both parts", "no window is left out")

namespace every_third_window {
using solution::adamw_step;
using solution::stop_early;
Split split(int tokens, int, int context) {
  Split result;
  for (int s = 0; s + context < tokens; ++s) (s % 3 < 2 ? result.train : result.valid).push_back(s);
  return result;
}
}  // namespace every_third_window
MUTANT(every_third_window, "no input is in both parts", "no target is in both parts", "no window is left out")

namespace targets_forgotten {
using solution::adamw_step;
using solution::stop_early;
Split split(int tokens, int held_out, int context) {
  Split result;
  for (int s = 0; s + context <= tokens - held_out; ++s) result.train.push_back(s);
  for (int s = tokens - held_out; s + context <= tokens; ++s) result.valid.push_back(s);
  return result;
}
}  // namespace targets_forgotten
MUTANT(targets_forgotten, "no target is in both parts", "the windows end with the text",
       "no window is left out")

namespace in_descending_order {
using solution::adamw_step;
using solution::stop_early;
Split split(int tokens, int held_out, int context) {
  Split result = solution::split(tokens, held_out, context);
  std::reverse(result.train.begin(), result.train.end());
  std::reverse(result.valid.begin(), result.valid.end());
  return result;
}
}  // namespace in_descending_order
MUTANT(in_descending_order, "no window is left out")

namespace one_window_again_and_again {
using solution::adamw_step;
using solution::stop_early;
Split split(int tokens, int held_out, int context) {
  Split result = solution::split(tokens, held_out, context);
  std::fill(result.train.begin(), result.train.end(), 0);
  return result;
}
}  // namespace one_window_again_and_again
MUTANT(one_window_again_and_again, "no window is left out")

namespace windows_that_do_not_overlap {
using solution::adamw_step;
using solution::stop_early;
Split split(int tokens, int held_out, int context) {
  Split result;
  for (int s = 0; s + context < tokens - held_out; s += context) result.train.push_back(s);
  for (int s = tokens - held_out; s + context < tokens; s += context) result.valid.push_back(s);
  return result;
}
}  // namespace windows_that_do_not_overlap
MUTANT(windows_that_do_not_overlap, "no window is left out")

namespace all_decay_in_place {  // w and the result are one tensor
using solution::split;
using solution::stop_early;
Tensor adamw_step(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                  double eps, double decay) {
  const Tensor step = solution::adamw_step(w, g, moments, t, lr, b1, b2, eps, 0) - w;
  w.copy_((1 - lr * decay) * w + step);
  return w;
}
}  // namespace all_decay_in_place
MUTANT(all_decay_in_place, "gains and biases have no decay")
