struct Answer {
  Tensor (*step)(const Tensor& w, const Tensor& g, Moments& moments, int t, double lr, double b1, double b2,
                 double eps);
  double (*noam)(int t, int d, int warmup);
};
#define ANSWER(FROM) \
  { FROM::adam_step, FROM::noam }

CASE("the first step is lr, whatever the gradient",
     "Divide m by 1 - b1^t and v by 1 - b2^t: bias correction.") {
  Moments moments = {zeros({2}), zeros({2})};
  near("after one step from 5 and -2, w",
       answer.step(tensor({5.0, -2.0}), tensor({100.0, -0.25}), moments, 1, 0.1, 0.9, 0.999, 1e-8),
       tensor({4.9, -1.9}), 1e-6);
}
CASE("the moments are averages", "m of the gradient, v of its square.") {
  Moments moments = {full({1}, 1.0), full({1}, 1.0)};
  const Tensor g = full({1}, 3.0);
  answer.step(zeros({1}), g, moments, 5, 0.1, 0.9, 0.99, 1e-8);
  near("m", moments.m.item(), 1.2), near("v", moments.v.item(), 1.08);
  near("g afterwards", g.item(), 3);
}
CASE("bias correction fades with t", "The power is t: 1 - b1^t.") {
  Moments moments = {full({1}, 1.0), full({1}, 4.0)};
  near("w", answer.step(zeros({1}), full({1}, 1.0), moments, 1000, 0.1, 0.9, 0.5, 1e-8).item(),
       -0.1 / std::sqrt(2.5), 1e-7);
  Moments third = {full({1}, 1.0), full({1}, 1.0)};  // stay 1: the corrections are 0.875 and 0.488
  near("w", answer.step(zeros({1}), full({1}, 1.0), third, 3, 0.1, 0.5, 0.8, 1e-8).item(),
       -0.1 * std::sqrt(0.488) / 0.875, 1e-7);
}
CASE("eps is outside the root", "sqrt(vhat) + eps, not sqrt(vhat + eps).") {
  Moments moments = {zeros({1}), zeros({1})};
  near("w after a gradient of 1e-4 with eps = 1e-4",
       answer.step(zeros({1}), full({1}, 1e-4), moments, 1, 1, 0.9, 0.9, 1e-4).item(), -0.5, 1e-6);
}
CASE("the rate rises to its peak at the end of the warm-up",
     "min of both: a rising line and a falling curve.") {
  near("noam(1) / noam(100), warm-up 100", answer.noam(1, 64, 100) / answer.noam(100, 64, 100), 0.01);
  near("noam(400) / noam(100), warm-up 100", answer.noam(400, 64, 100) / answer.noam(100, 64, 100), 0.5);
}
CASE("the peak is 1 / sqrt(d warmup)",
     "d^-0.5 multiplies the min. In C++ -1 / 2 is 0, a quotient of integers: write -0.5.") {
  near("noam(4000, 512, 4000)", answer.noam(4000, 512, 4000), 1 / std::sqrt(512.0 * 4000.0));
}
