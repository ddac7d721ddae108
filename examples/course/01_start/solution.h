#include "learn/learn.h"

std::vector<double> times(const std::vector<std::vector<double>>& A, const std::vector<double>& x) {
  std::vector<double> y;
  for (const std::vector<double>& row : A) {
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += row[j] * x[j];
    y.push_back(sum);
  }
  return y;
}

double slope(const std::vector<double>& x, const std::vector<double>& y) {
  return (y.back() - y.front()) / (x.back() - x.front());
}
