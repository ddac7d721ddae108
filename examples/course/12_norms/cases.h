struct Answer {
  Tensor (*batch_norm)(const Tensor& x, Running& running, bool training, double eps);
  Tensor (*rms)(const Tensor& x, double eps);
};
#define ANSWER(FROM) \
  { FROM::batch_norm, FROM::rms }

namespace {
Running fresh(int channels) { return {zeros({channels}), ones({channels})}; }
}  // namespace

CASE("training: each channel over the batch", "Mean and variance over axis 0, the examples.") {
  Running running = fresh(3);
  const Tensor y = answer.batch_norm(randn({6, 3}) * 4 + 2, running, true, 1e-5);
  near("the mean of each channel", y.mean(0), zeros({3}), 1e-9);
  near("the mean square of each channel", y.square().mean(0), ones({3}), 1e-3);
}
CASE("training: the running mean moves by a tenth",
     "0.9 old + 0.1 new, both of shape [C], not [1, C]: x.mean(0).") {
  Running running = fresh(2);
  answer.batch_norm(tensor({{10.0, 0.0}, {20.0, 0.0}}), running, true, 1e-5);
  near("running mean", running.mean, tensor({1.5, 0.0}));
}
CASE("training: the running variance is unbiased",
     "Multiply the biased variance by N / (N - 1). Its shape is [C], not [1, C].") {
  Running running = fresh(1);
  answer.batch_norm(tensor({{0.0}, {3.0}, {6.0}}), running, true, 1e-5);
  near("running var", running.var, tensor({0.9 + 0.1 * 9}));
}
CASE("inference: a batch of one", "Use the running mean and variance, not those of the batch.") {
  Running running = {full({2}, 1.0), full({2}, 4.0)};
  near("y", answer.batch_norm(tensor({{3.0, 5.0}}), running, false, 0), tensor({{1.0, 2.0}}));
}
CASE("inference changes nothing", "Only training moves the running statistics.") {
  Running running = {full({2}, 1.0), full({2}, 4.0)};
  answer.batch_norm(randn({4, 2}), running, false, 1e-5);
  near("running mean", running.mean, full({2}, 1.0)), near("running var", running.var, full({2}, 4.0));
}
CASE("RMSNorm keeps the mean",
     "x / sqrt(mean(x^2) + eps): nothing is subtracted. The mean is over the last axis.") {
  near("of the rows [3, 3] and [1, 7]", answer.rms(tensor({{3.0, 3.0}, {1.0, 7.0}}), 0),
       tensor({{1.0, 1.0}, {0.2, 1.4}}));
}
CASE("eps is inside the root", "sqrt(v + eps), sqrt(running var + eps), sqrt(mean(x^2) + eps).") {
  near("RMSNorm of [0.001, 0.001] with eps = 1e-6", answer.rms(full({2}, 0.001), 1e-6),
       full({2}, std::sqrt(0.5)));
  const Tensor x =
      tensor({{0.001, -0.001}, {-0.001, 0.001}});  // m is 0 and v is eps, of the batch and running
  for (const bool training : {true, false}) {
    Running running = {zeros({2}), full({2}, 1e-6)};
    near(training ? "y in training with v = eps" : "y in inference with running var = eps",
         answer.batch_norm(x, running, training, 1e-6), 1000 * std::sqrt(0.5) * x);
  }
}
CASE("the gradient passes the statistics",
     "m, v and mean(x^2) depend on x: detach() only what goes into the running statistics.") {
  gradients(
      [&](const std::vector<Tensor>& x) {
        Running running = fresh(3);
        return answer.batch_norm(x[0], running, true, 1e-3);
      },
      {{4, 3}});
  Running running = fresh(3);
  answer.batch_norm(randn({4, 3}).requires_grad_(), running, true, 1e-3);
  expect(!running.mean.requires_grad() && !running.var.requires_grad(),
         "the running statistics are on the tape");
  gradients([&](const std::vector<Tensor>& x) { return answer.rms(x[0], 1e-3); }, {{2, 3}});
}
