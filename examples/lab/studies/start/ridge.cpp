#include "lab/studies/start/ridge.h"

#include <cmath>

#include "gradus/core/check.h"

namespace gradus::lab {

namespace {

/// Means and deviations of the first rows, column by column.
struct Columns {
  std::vector<double> mean, deviation;
};

Columns columns_of(const Rows& rows, std::size_t fitted) {
  const std::size_t width = rows.front().size();
  Columns columns{std::vector<double>(width), std::vector<double>(width)};
  for (std::size_t j = 0; j < width; ++j) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < fitted; ++i) sum += rows[i][j];
    columns.mean[j] = sum / static_cast<double>(fitted);
    for (std::size_t i = 0; i < fitted; ++i) squares += std::pow(rows[i][j] - columns.mean[j], 2);
    const double deviation = std::sqrt(squares / static_cast<double>(fitted));
    columns.deviation[j] = deviation > 0 ? deviation : 1;
  }
  return columns;
}

void standardise(Rows& rows, const Columns& columns) {
  for (std::vector<double>& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = (row[j] - columns.mean[j]) / columns.deviation[j];
}

/// A = L L^T, in place; A is symmetric and positive definite.
void cholesky(Rows& a) {
  for (std::size_t j = 0; j < a.size(); ++j)
    for (std::size_t i = j; i < a.size(); ++i) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
}

std::vector<double> solve(const Rows& l, std::vector<double> b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= l[i][k] * b[k];
    b[i] /= l[i][i];
  }
  for (std::size_t i = b.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < b.size(); ++k) b[i] -= l[k][i] * b[k];
    b[i] /= l[i][i];
  }
  return b;
}

double r2(const Rows& x, const std::vector<double>& weights, const std::vector<double>& target, double mean,
          std::size_t fitted) {
  double held_out = 0, residual = 0, total = 0;
  for (std::size_t i = fitted; i < x.size(); ++i) held_out += target[i];
  held_out /= static_cast<double>(x.size() - fitted);
  for (std::size_t i = fitted; i < x.size(); ++i) {
    double predicted = mean;
    for (std::size_t j = 0; j < weights.size(); ++j) predicted += weights[j] * x[i][j];
    residual += std::pow(target[i] - predicted, 2);
    total += std::pow(target[i] - held_out, 2);
  }
  return 1 - residual / total;
}

}  // namespace

double mean_held_out_r2(const Rows& features, const Rows& targets, std::size_t fitted, double penalty) {
  check(fitted > 1 && fitted < features.size() && !targets.empty(),
        "held_out_r2: expects rows to fit and rows to measure on");
  Rows x = features;
  standardise(x, columns_of(features, fitted));
  const std::size_t width = x.front().size();
  Rows square(width, std::vector<double>(width));
  for (std::size_t i = 0; i < fitted; ++i)
    for (std::size_t j = 0; j < width; ++j)
      for (std::size_t k = 0; k <= j; ++k) square[j][k] += x[i][j] * x[i][k];
  for (std::size_t j = 0; j < width; ++j) square[j][j] += penalty * static_cast<double>(fitted);
  cholesky(square);
  double sum = 0;
  for (const std::vector<double>& target : targets) {
    double mean = 0;
    for (std::size_t i = 0; i < fitted; ++i) mean += target[i] / static_cast<double>(fitted);
    std::vector<double> right(width);
    for (std::size_t i = 0; i < fitted; ++i)
      for (std::size_t j = 0; j < width; ++j) right[j] += x[i][j] * (target[i] - mean);
    sum += r2(x, solve(square, right), target, mean, fitted);
  }
  return sum / static_cast<double>(targets.size());
}

double held_out_r2(const Rows& features, const std::vector<double>& target, std::size_t fitted,
                   double penalty) {
  return mean_held_out_r2(features, {target}, fitted, penalty);
}

}  // namespace gradus::lab
