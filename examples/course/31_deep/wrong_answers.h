namespace from_step_0 {
using solution::clip;
double rate(int step, int warmup, int total, double peak, double floor) {
  return step < warmup ? peak * (step - 1) / warmup : solution::rate(step, warmup, total, peak, floor);
}
}  // namespace from_step_0
MUTANT(from_step_0, "the first step already moves")

namespace cosine_from_the_beginning {
using solution::clip;
double rate(int step, int warmup, int total, double peak, double floor) {
  if (step <= warmup) return peak * step / warmup;
  return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * step / total)) / 2;
}
}  // namespace cosine_from_the_beginning
MUTANT(cosine_from_the_beginning, "the peak is at the end of the warm-up", "half way it is half way")

namespace down_to_zero {
using solution::clip;
double rate(int step, int warmup, int total, double peak, double) {
  return solution::rate(step, warmup, total, peak, 0);
}
}  // namespace down_to_zero
MUTANT(down_to_zero, "the cosine ends at the floor", "half way it is half way")

namespace whole_number_progress {
using solution::clip;
double rate(int step, int warmup, int total, double peak, double floor) {
  if (step <= warmup) return peak * step / warmup;
  const int q = (step - warmup) / (total - warmup);
  return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * q)) / 2;
}
}  // namespace whole_number_progress
MUTANT(whole_number_progress, "half way it is half way")

namespace each_tensor_by_itself {
using solution::rate;
std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) {
  std::vector<Tensor> clipped;
  for (const Tensor& x : g) clipped.push_back(solution::clip({x}, limit)[0]);
  return clipped;
}
}  // namespace each_tensor_by_itself
MUTANT(each_tensor_by_itself, "one norm for all tensors")

namespace always_to_the_limit {
using solution::rate;
std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) {
  std::vector<Tensor> large;
  for (const Tensor& x : g) large.push_back(x * 1e6);
  return solution::clip(large, limit);
}
}  // namespace always_to_the_limit
MUTANT(always_to_the_limit, "small gradients are unchanged")

namespace elements_clamped {
using solution::rate;
std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) {
  std::vector<Tensor> clipped;
  for (const Tensor& x : g) clipped.push_back(clamp(x, -limit, limit));
  return clipped;
}
}  // namespace elements_clamped
MUTANT(elements_clamped, "one norm for all tensors")

namespace a_line_for_the_cosine {
using solution::clip;
double rate(int step, int warmup, int total, double peak, double floor) {
  if (step <= warmup) return peak * step / warmup;
  return floor + (peak - floor) * (total - step) / (total - warmup);
}
}  // namespace a_line_for_the_cosine
MUTANT(a_line_for_the_cosine, "half way it is half way")

namespace squares_of_sums {
using solution::rate;
std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) {
  double squares = 0;
  for (const Tensor& x : g) squares += x.sum().square().item();
  std::vector<Tensor> clipped;
  for (const Tensor& x : g) clipped.push_back(x * std::min(1.0, limit / std::sqrt(squares)));
  return clipped;
}
}  // namespace squares_of_sums
MUTANT(squares_of_sums, "one norm for all tensors")

namespace writes_into_g {
using solution::rate;
std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) {
  double squares = 0;
  for (const Tensor& x : g) squares += x.square().sum().item();
  std::vector<Tensor> clipped = g;
  for (Tensor& x : clipped) x *= std::min(1.0, limit / std::sqrt(squares));
  return clipped;
}
}  // namespace writes_into_g
MUTANT(writes_into_g, "the inputs are as before")

namespace warm_up_from_the_floor {
using solution::clip;
double rate(int step, int warmup, int total, double peak, double floor) {
  return step <= warmup ? floor + (peak - floor) * step / warmup
                        : solution::rate(step, warmup, total, peak, floor);
}
}  // namespace warm_up_from_the_floor
MUTANT(warm_up_from_the_floor, "the first step already moves")

namespace cut_at_the_floor {
using solution::clip;
double rate(int step, int warmup, int total, double peak, double floor) {
  return std::max(floor, solution::rate(step, warmup, total, peak, 0));
}
}  // namespace cut_at_the_floor
MUTANT(cut_at_the_floor, "half way it is half way")

namespace divided_by_a_norm_of_0 {
using solution::rate;
std::vector<Tensor> clip(const std::vector<Tensor>& g, double limit) {
  double squares = 0;
  for (const Tensor& x : g) squares += x.square().sum().item();
  std::vector<Tensor> clipped;
  for (const Tensor& x : g) clipped.push_back(x / std::sqrt(squares) * std::min(limit, std::sqrt(squares)));
  return clipped;
}
}  // namespace divided_by_a_norm_of_0
MUTANT(divided_by_a_norm_of_0, "small gradients are unchanged")
