struct Answer {
  Tensor (*step)(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps, double decay);
  int (*stop)(const Run& run, int patience, int most);
  Split (*split)(int tokens, int held_out, int context);
};
#define ANSWER(FROM) \
  { FROM::adamw_step, FROM::stop_early, FROM::split }

namespace {
/// Calls the answer on a run whose weight counts the epochs and whose validation losses are these, and
/// compares the epochs it trains for, the one it returns, and the weight it leaves. That the last weight is
/// left is the mistake of the case about weights alone.
void runs_as(const Answer& answer, const std::vector<double>& losses, int patience, int most, int trained,
             int best, bool about_weights = false) {
  const Tensor w = zeros({1});
  int epochs = 0;
  const Run run = {w,
                   [&] {
                     w.copy_(w + 1);
                     ++epochs;
                   },
                   [&] {
                     const auto epoch = static_cast<std::size_t>(w.item());
                     return epoch >= 1 && epoch <= losses.size() ? losses[epoch - 1] : INFINITY;
                   }};
  const int returned = answer.stop(run, patience, most);
  std::string of;
  for (const double loss : losses) of += (of.empty() ? "" : ", ") + std::to_string(loss).substr(0, 3);
  of = phrase("for the losses {0} and patience {1}", of, patience);
  expect(epochs == trained, phrase("trains for {0} epochs, not {1}, {2}", epochs, trained, of));
  expect(returned == best, phrase("returns epoch {0}, not {1}, {2}", returned, best, of));
  if (best == epochs || w.item() != epochs)
    near(phrase("the epoch whose weights are left, {0},", of), w.item(), best);
  else if (about_weights)
    problem(
        phrase("the weights of the last epoch are left, {0}: Tensor kept = run.w is no copy, "
               "run.w.clone() is one, and run.w.copy_(kept) brings it back",
               of));
}
std::vector<double> numbers(const std::vector<int>& starts) { return {starts.begin(), starts.end()}; }
}  // namespace

CASE("the decay is not divided by sqrt(v)", "Take it from w itself: a decay in g or in mhat is divided.") {
  Moments moments = {zeros({1, 2}), zeros({1, 2})};
  near("a step from 1 with gradients 100 and 0.01, lr 0.1, decay 0.5: w",
       answer.step(tensor({{1.0, 1.0}}), tensor({{100.0, 0.01}}), moments, 1, 0.1, 0.9, 0.999, 1e-12, 0.5),
       tensor({{0.85, 0.85}}), 1e-6);
}
CASE("the moments are those of the gradient", "m and v average g alone, not g + decay w.") {
  Moments moments = {zeros({2, 2}), zeros({2, 2})};
  const Tensor g = randn({2, 2});
  answer.step(full({2, 2}, 10.0), g, moments, 1, 0.1, 0.9, 0.99, 1e-8, 0.5);
  near("m", moments.m, 0.1 * g), near("v", moments.v, 0.01 * g.square());
}
CASE("the rate scales the decay", "In one step w loses the share lr decay: a schedule lowers both.") {
  Moments moments = {zeros({1, 1}), zeros({1, 1})};
  near("a step from 2 with gradient 0, lr 0.5, decay 0.1: w",
       answer.step(full({1, 1}, 2.0), zeros({1, 1}), moments, 1, 0.5, 0.9, 0.999, 1e-8, 0.1).item(), 1.9);
}
CASE("a weight 0 has no decay", "The decay shrinks the old w, and leaves Adam's step as long as it is.") {
  Moments moments = {zeros({1, 1}), zeros({1, 1})};
  near("a step from 0 with gradient 1, lr 0.5, decay 0.4: w",
       answer.step(zeros({1, 1}), ones({1, 1}), moments, 1, 0.5, 0.9, 0.999, 1e-12, 0.4).item(), -0.5, 1e-6);
}
CASE("gains and biases have no decay", "A w of one axis takes Adam's step alone.") {
  Moments moments = {zeros({3}), zeros({3})};
  const Tensor w = randn({3}) + 5;
  near("with gradient 0, w", answer.step(w.clone(), zeros({3}), moments, 1, 0.1, 0.9, 0.999, 1e-8, 0.5), w);
}
CASE("without decay it is Adam", "Chapter 26: averages, both corrections, eps outside the root.") {
  const Tensor m = randn({2, 3}), v = rand({2, 3}) + 1, g = randn({2, 3}), w = randn({2, 3});
  Moments moments = {m.clone(), v.clone()};
  const Tensor mhat = (0.8 * m + 0.2 * g) / (1 - std::pow(0.8, 3));
  const Tensor vhat = (0.9 * v + 0.1 * g.square()) / (1 - std::pow(0.9, 3));
  near("step 3: w", answer.step(w.clone(), g, moments, 3, 0.1, 0.8, 0.9, 0.1, 0),
       w - 0.1 * mhat / (vhat.sqrt() + 0.1));
}

CASE("the best weights come back", "Keep a clone() of the best weights, and copy it back at the end.") {
  runs_as(answer, {5, 3, 2, 4, 6, 7}, 3, 100, 6, 3, true);
}
CASE("training ends when patience is used up",
     "With patience 3 it ends after the third epoch in a row without a new lowest loss.") {
  runs_as(answer, {5, 4, 4.5, 4.6, 4.7, 1}, 3, 100, 5, 2);
}
CASE("a new best loss starts the count again", "Count the epochs since the best one, not all bad ones.") {
  runs_as(answer, {5, 6, 4, 6, 3, 6, 2, 7, 8}, 2, 100, 9, 7);
}
CASE("a loss is compared with the lowest", "Better than the epoch before is not yet a new best.") {
  runs_as(answer, {5, 2, 4, 3.9, 3.8, 1}, 3, 100, 5, 2);
}
CASE("an equal loss is no new best", "loss < least, not <=: else a plateau never ends.") {
  runs_as(answer, {3, 2, 2, 2, 2, 1}, 3, 100, 5, 2);
}
CASE("there are at most so many epochs", "Stop after `most` epochs even if each one was the best so far.") {
  runs_as(answer, {9, 8, 7, 6, 5, 4}, 2, 4, 4, 4);
}
CASE("NaN is no new best", "Every comparison with NaN is false: start from infinity, and ask loss < least.") {
  runs_as(answer, {5, NAN, 4, NAN, NAN}, 2, 100, 5, 3);
  runs_as(answer, {NAN, 5, 4, 6, 6}, 2, 100, 5, 3);
}

CASE("no input is in both parts",
     "Cut the tokens first; a window belongs to a part if it lies in it as a whole.") {
  const Split parts = answer.split(40, 12, 5);
  for (const int s : parts.train)
    if (s + 4 >= 28) problem(phrase("the training window at {0} reads tokens from 28 on", s));
  for (const int s : parts.valid)
    if (s < 28) problem(phrase("the validation window at {0} reads tokens before 28", s));
}
CASE("no target is in both parts", "The last target is one place behind the window: at s + context.") {
  for (const int s : answer.split(40, 12, 5).train)
    if (s + 5 >= 28) problem(phrase("the training window at {0} has a target from 28 on", s));
}
CASE("the windows end with the text", "The last target, at s + context, is a token too.") {
  for (const int s : answer.split(40, 12, 5).valid)
    if (s + 5 >= 40) problem(phrase("the window at {0} of a text of 40 has no last target", s));
}
CASE("no window is left out", "Every start counts, and a cut needs no gap beyond the windows across it.") {
  const Split parts = answer.split(40, 12, 5);
  near("of 28 tokens and context 5, training windows", static_cast<double>(parts.train.size()), 23);
  near("of 12 tokens and context 5, validation windows", static_cast<double>(parts.valid.size()), 7);
  near("of 28 tokens and context 5, the starts of training windows", numbers(parts.train),
       arange(23).to_vector<double>());
  near("of 12 tokens after 28 and context 5, the starts of validation windows", numbers(parts.valid),
       (28 + arange(7)).to_vector<double>());
}
