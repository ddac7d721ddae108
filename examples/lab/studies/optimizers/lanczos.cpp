#include "lab/studies/optimizers/lanczos.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradus::lab::optimizers {

namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void take(Vector& from, double times, const Vector& what) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= times * what[i];
}

double normalise(Vector& v) {
  const double length = std::sqrt(dot(v, v));
  if (length > 0)
    for (double& x : v) x /= length;
  return length;
}

/// How many eigenvalues are below x: as many as negative pivots of T - x.
std::size_t count_below(const Vector& diagonal, const Vector& off_diagonal, double x) {
  std::size_t count = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double square = i == 0 ? 0 : off_diagonal[i - 1] * off_diagonal[i - 1];
    pivot = diagonal[i] - x - square / pivot;
    if (pivot == 0) pivot = -1e-300;
    if (pivot < 0) ++count;
  }
  return count;
}

}  // namespace

double largest_eigenvalue(const Product& product, Vector start, int products) {
  normalise(start);
  std::vector<Vector> basis = {std::move(start)};
  Vector diagonal, off_diagonal;
  for (int i = 0; i < products; ++i) {
    Vector next = product(basis.back());
    const double size = std::sqrt(dot(next, next));
    diagonal.push_back(dot(basis.back(), next));
    for (int twice = 0; twice < 2; ++twice)
      for (const Vector& one : basis) take(next, dot(one, next), one);
    off_diagonal.push_back(normalise(next));
    if (off_diagonal.back() <= 1e-10 * size) break;  // the space is exhausted
    basis.push_back(std::move(next));
  }
  return largest_of_tridiagonal(diagonal, off_diagonal);
}

double largest_of_tridiagonal(const Vector& diagonal, const Vector& off_diagonal) {
  const auto beside_of = [&](std::size_t i) {
    return i + 1 < diagonal.size() ? std::abs(off_diagonal[i]) : 0.0;
  };
  double low = diagonal[0], high = low;  // Gershgorin's circles
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double radius = beside_of(i) + (i > 0 ? beside_of(i - 1) : 0);
    low = std::min(low, diagonal[i] - radius);
    high = std::max(high, diagonal[i] + radius);
  }
  for (int halving = 0; halving < 100 && low < high; ++halving) {
    const double middle = (low + high) / 2;
    (count_below(diagonal, off_diagonal, middle) == diagonal.size() ? high : low) = middle;
  }
  return high;
}

}  // namespace gradus::lab::optimizers
