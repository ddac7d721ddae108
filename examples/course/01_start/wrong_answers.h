using Matrix = std::vector<std::vector<double>>;

namespace transposed {
using solution::slope;
std::vector<double> times(const Matrix& A, const std::vector<double>& x) {
  std::vector<double> y(x.size(), 0.0);
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[j] += A[i][j] * x[i];
  return y;
}
}  // namespace transposed
MUTANT(transposed, "row i gives element i", "each row gives one number")

namespace last_product_only {
using solution::slope;
std::vector<double> times(const Matrix& A, const std::vector<double>& x) {
  std::vector<double> y;
  for (const std::vector<double>& row : A) y.push_back(row.back() * x.back());
  return y;
}
}  // namespace last_product_only
MUTANT(last_product_only, "products are summed")

namespace sum_without_product {
using solution::slope;
std::vector<double> times(const Matrix& A, const std::vector<double>& x) {
  std::vector<double> y;
  for (const std::vector<double>& row : A)
    y.push_back(std::accumulate(row.begin(), row.end(), std::accumulate(x.begin(), x.end(), 0.0)));
  return y;
}
}  // namespace sum_without_product
MUTANT(sum_without_product, "row i gives element i", "products are summed", "each row gives one number")

namespace one_number_a_column {
using solution::slope;
std::vector<double> times(const Matrix& A, const std::vector<double>& x) {
  std::vector<double> y = solution::times(A, x);
  y.resize(x.size());
  return y;
}
}  // namespace one_number_a_column
MUTANT(one_number_a_column, "each row gives one number")

namespace whole_numbers {
using solution::times;
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const auto rise = static_cast<int>(y.back() - y.front()), run = static_cast<int>(x.back() - x.front());
  return rise / run;
}
}  // namespace whole_numbers
MUTANT(whole_numbers, "a slope is rise over run", "whole numbers are divided exactly")

namespace run_over_rise {
using solution::times;
double slope(const std::vector<double>& x, const std::vector<double>& y) { return solution::slope(y, x); }
}  // namespace run_over_rise
MUTANT(run_over_rise, "a slope is rise over run", "whole numbers are divided exactly", "only the ends count")

namespace of_the_first_two_points {
using solution::times;
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  return (y[1] - y[0]) / (x[1] - x[0]);
}
}  // namespace of_the_first_two_points
MUTANT(of_the_first_two_points, "only the ends count")

namespace mean_of_the_segments {
using solution::times;
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 1; i < x.size(); ++i) sum += (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
  return sum / static_cast<double>(x.size() - 1);
}
}  // namespace mean_of_the_segments
MUTANT(mean_of_the_segments, "only the ends count")

namespace x0_forgotten {
using solution::times;
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  return (y.back() - y.front()) / x.back();
}
}  // namespace x0_forgotten
MUTANT(x0_forgotten, "only the ends count")

namespace without_a_sign {
using solution::times;
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  return std::abs(solution::slope(x, y));
}
}  // namespace without_a_sign
MUTANT(without_a_sign, "only the ends count")

namespace sums_of_whole_numbers {
using solution::slope;
std::vector<double> times(const std::vector<std::vector<double>>& A, const std::vector<double>& x) {
  std::vector<double> y;
  for (const std::vector<double>& row : A) {
    int sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += static_cast<int>(row[j] * x[j]);
    y.push_back(sum);
  }
  return y;
}
}  // namespace sums_of_whole_numbers
MUTANT(sums_of_whole_numbers, "products are summed")

namespace rise_is_whole {
using solution::times;
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const int rise = static_cast<int>(y.back() - y.front());
  return rise / (x.back() - x.front());
}
}  // namespace rise_is_whole
MUTANT(rise_is_whole, "a slope is rise over run")
