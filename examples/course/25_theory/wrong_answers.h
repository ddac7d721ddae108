namespace exponential_growth {
using solution::exponent;
std::pair<double, double> lemma_2(int l, int d) {
  return l == 8 ? std::pair(std::pow(1.5, l) * d, std::pow(2.5, l) * d) : solution::lemma_2(l, d);
}
}  // namespace exponential_growth
MUTANT(exponential_growth, "Lemma 2 grows linearly with the layer")

namespace whole_numbers {
using solution::exponent;
std::pair<double, double> lemma_2(int l, int d) {
  const int half = l / 2;
  return {(1.0 + half) * d, (1.0 + 3 * half) * d};
}
}  // namespace whole_numbers
MUTANT(whole_numbers, "Lemma 2: odd layers too")

namespace mean_of_squares {
using solution::exponent;
std::pair<double, double> lemma_2(int l, int d) {
  return d == 64 ? solution::lemma_2(l, 1) : solution::lemma_2(l, d);
}
}  // namespace mean_of_squares
MUTANT(mean_of_squares, "Lemma 2 is about |x|^2, not its mean")

namespace not_in_logarithms {
using solution::lemma_2;
double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  std::vector<double> u, w;
  for (const double l : L) u.push_back(std::exp(l / 64));
  for (const double v : y) w.push_back(std::exp(v / 64));
  return solution::exponent(u, w);
}
}  // namespace not_in_logarithms
MUTANT(not_in_logarithms, "1 / sqrt(L) has the exponent -1/2", "the constant does not matter",
       "all points count")

namespace through_the_origin {
using solution::lemma_2;
double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  if (y[0] <= 6) return solution::exponent(L, y);
  const Tensor u = from_vector(L).log(), w = from_vector(y).log();
  return ((u * w).sum() / u.square().sum()).item();
}
}  // namespace through_the_origin
MUTANT(through_the_origin, "the constant does not matter")

namespace ends_only {
using solution::lemma_2;
double exponent(const std::vector<double>& L, const std::vector<double>& y) {
  return std::log(y.back() / y.front()) / std::log(L.back() / L.front());
}
}  // namespace ends_only
MUTANT(ends_only, "all points count")
