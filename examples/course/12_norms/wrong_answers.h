namespace {
Tensor with(const Tensor& x, Running& running, bool training, double eps, double keep, bool unbiased,
            bool always_batch, bool always_moves) {
  const double N = static_cast<double>(x.size(0));
  const Tensor m = x.mean(0), v = (x - m).square().mean(0);
  const Running before = running;
  if (training || always_moves) {
    running.mean = keep * running.mean + (1 - keep) * m.detach();
    running.var = keep * running.var + (1 - keep) * v.detach() * (unbiased ? N / (N - 1) : 1.0);
  }
  if (training || always_batch) return (x - m) / (v + eps).sqrt();
  return (x - before.mean) / (before.var + eps).sqrt();
}
}  // namespace

namespace batch_statistics_in_inference {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  return with(x, r, training, eps, 0.9, true, true, false);
}
}  // namespace batch_statistics_in_inference
MUTANT(batch_statistics_in_inference, "inference: a batch of one")

namespace moves_in_inference {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  return with(x, r, training, eps, 0.9, true, false, true);
}
}  // namespace moves_in_inference
MUTANT(moves_in_inference, "inference changes nothing")

namespace biased_running_variance {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  return with(x, r, training, eps, 0.9, false, false, false);
}
}  // namespace biased_running_variance
MUTANT(biased_running_variance, "training: the running variance is unbiased")

namespace momentum_the_other_way {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  return with(x, r, training, eps, 0.1, true, false, false);
}
}  // namespace momentum_the_other_way
MUTANT(momentum_the_other_way, "training: the running mean moves by a tenth",
       "training: the running variance is unbiased")

namespace layer_norm_for_batch_norm {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  const Tensor y = solution::batch_norm(x, r, training, eps);
  return training ? layer_norm(x, {}, {}, eps) : y;
}
}  // namespace layer_norm_for_batch_norm
MUTANT(layer_norm_for_batch_norm, "training: each channel over the batch")

namespace rms_takes_the_mean_off {
using solution::batch_norm;
Tensor rms(const Tensor& x, double eps) {
  const Tensor centred = x - x.mean(-1, true);
  return centred / (x.square().mean(-1, true) + eps).sqrt();
}
}  // namespace rms_takes_the_mean_off
MUTANT(rms_takes_the_mean_off, "RMSNorm keeps the mean", "eps is inside the root")

namespace rms_eps_outside {
using solution::batch_norm;
Tensor rms(const Tensor& x, double eps) { return x / (x.square().mean(-1, true).sqrt() + eps); }
}  // namespace rms_eps_outside
MUTANT(rms_eps_outside, "eps is inside the root")

namespace rms_over_all_rows {
using solution::batch_norm;
Tensor rms(const Tensor& x, double eps) { return x / (x.square().mean() + eps).sqrt(); }
}  // namespace rms_over_all_rows
MUTANT(rms_over_all_rows, "RMSNorm keeps the mean")

namespace batch_norm_eps_outside {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  const Running before = r;
  const Tensor y = solution::batch_norm(x, r, training, 0);
  const Tensor sigma = training ? (x - x.mean(0)).square().mean(0).sqrt() : before.var.sqrt();
  return y * sigma / (sigma + eps);
}
}  // namespace batch_norm_eps_outside
MUTANT(batch_norm_eps_outside, "eps is inside the root")

namespace no_eps_in_inference {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  return solution::batch_norm(x, r, training, training ? eps : 0);
}
}  // namespace no_eps_in_inference
MUTANT(no_eps_in_inference, "eps is inside the root")

namespace no_eps_in_training {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  return solution::batch_norm(x, r, training, training ? 0 : eps);
}
}  // namespace no_eps_in_training
MUTANT(no_eps_in_training, "eps is inside the root")

namespace statistics_detached {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  if (!training) return solution::batch_norm(x, r, training, eps);
  solution::batch_norm(x.detach(), r, training, eps);
  const Tensor c = x.detach() - x.detach().mean(0), sigma = (c.square().mean(0) + eps).sqrt();
  return (x - x.detach().mean(0)) / sigma;
}
}  // namespace statistics_detached
MUTANT(statistics_detached, "the gradient passes the statistics")

namespace off_the_tape {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  return solution::batch_norm(x.detach(), r, training, eps);
}
}  // namespace off_the_tape
MUTANT(off_the_tape, "the gradient passes the statistics")

namespace quotient_of_integers {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  const Tensor before = r.var, y = solution::batch_norm(x, r, training, eps);
  if (training)
    r.var = 0.9 * before + 0.1 * (x - x.mean(0)).square().mean(0).detach() *
                               static_cast<double>(x.size(0) / (x.size(0) - 1));
  return y;
}
}  // namespace quotient_of_integers
MUTANT(quotient_of_integers, "training: the running variance is unbiased")

namespace running_sum_of_squares {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  const Tensor before = r.var, y = solution::batch_norm(x, r, training, eps);
  if (training) r.var = 0.9 * before + 0.1 * (x - x.mean(0)).square().sum(0).detach();
  return y;
}
}  // namespace running_sum_of_squares
MUTANT(running_sum_of_squares, "training: the running variance is unbiased")

namespace running_on_the_tape {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& running, bool training, double eps) {
  if (!training) return solution::batch_norm(x, running, training, eps);
  const double N = static_cast<double>(x.size(0));
  const Tensor m = x.mean(0), v = (x - m).square().mean(0);
  running.mean = 0.9 * running.mean + 0.1 * m;
  running.var = 0.9 * running.var + 0.1 * v * (N / (N - 1));
  return (x - m) / (v + eps).sqrt();
}
}  // namespace running_on_the_tape
MUTANT(running_on_the_tape, "the gradient passes the statistics")

namespace running_with_an_axis_more {
using solution::rms;
Tensor batch_norm(const Tensor& x, Running& r, bool training, double eps) {
  const Tensor y = solution::batch_norm(x, r, training, eps);
  if (training) r.mean = r.mean.unsqueeze(0);
  return y;
}
}  // namespace running_with_an_axis_more
MUTANT(running_with_an_axis_more, "training: the running mean moves by a tenth")
