namespace not_divided_by_the_rank {
using solution::merge, solution::forgotten;
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return solution::lora(x, W, A, B, alpha * static_cast<double>(A.size(0)));
}
}  // namespace not_divided_by_the_rank
MUTANT(not_divided_by_the_rank, "alpha is divided by the rank")

namespace everything_trains {
using solution::merge, solution::forgotten;
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return linear(x, solution::merge(W, A, B, alpha));
}
}  // namespace everything_trains
MUTANT(everything_trains, "W is frozen")

namespace replaces_the_layer {
using solution::merge, solution::forgotten;
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return solution::lora(x, W, A, B, alpha) - linear(x, W.detach());
}
}  // namespace replaces_the_layer
MUTANT(replaces_the_layer, "with B = 0 it is the old layer")

namespace merged_without_alpha {
using solution::lora, solution::forgotten;
Tensor merge(const Tensor& W, const Tensor& A, const Tensor& B, double) { return W + matmul(B, A); }
}  // namespace merged_without_alpha
MUTANT(merged_without_alpha, "merged it is the same map")

namespace merges_into_w {
using solution::lora, solution::forgotten;
Tensor merge(const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  Tensor M = W;
  M += matmul(B, A) * (alpha / static_cast<double>(A.size(0)));
  return M;
}
}  // namespace merges_into_w
MUTANT(merges_into_w, "x, W, A and B are as before")

namespace scales_b_in_place {
using solution::merge, solution::forgotten;
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  Tensor scaled = B.detach();
  scaled *= alpha / static_cast<double>(A.size(0));
  return linear(x, W.detach()) + linear(linear(x, A), B);
}
}  // namespace scales_b_in_place
MUTANT(scales_b_in_place, "x, W, A and B are as before", "the gradient reaches x")

namespace the_other_way {
using solution::lora, solution::merge;
double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  return solution::forgotten(after, before);
}
}  // namespace the_other_way
MUTANT(the_other_way, "forgetting is above 0")

namespace summed {
using solution::lora, solution::merge;
double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  return solution::forgotten(before, after) * 2;
}
}  // namespace summed
MUTANT(summed, "it is the mean over examples")

namespace layer_detached {
using solution::merge, solution::forgotten;
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return solution::lora(x, 0 * W, A, B, alpha) + linear(x, W).detach();
}
}  // namespace layer_detached
MUTANT(layer_detached, "the gradient reaches x")

namespace x_detached {
using solution::merge, solution::forgotten;
Tensor lora(const Tensor& x, const Tensor& W, const Tensor& A, const Tensor& B, double alpha) {
  return solution::lora(x.detach(), W, A, B, alpha);
}
}  // namespace x_detached
MUTANT(x_detached, "the gradient reaches x")

namespace relative_to_before {
using solution::lora;
using solution::merge;
double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) sum += after[i] / before[i] - 1;
  return sum / static_cast<double>(before.size());
}
}  // namespace relative_to_before
MUTANT(relative_to_before, "it is the mean over examples")

namespace rises_alone {
using solution::lora;
using solution::merge;
double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) sum += std::max(0.0, after[i] - before[i]);
  return sum / static_cast<double>(before.size());
}
}  // namespace rises_alone
MUTANT(rises_alone, "it is the mean over examples")

namespace sum_of_whole_numbers {
using solution::lora, solution::merge;
double forgotten(const std::vector<double>& before, const std::vector<double>& after) {
  int sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) sum += static_cast<int>(after[i] - before[i]);
  return static_cast<double>(sum) / static_cast<double>(before.size());
}
}  // namespace sum_of_whole_numbers
MUTANT(sum_of_whole_numbers, "it is the mean over examples")
