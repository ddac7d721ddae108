#pragma once
// The largest eigenvalue of a symmetric matrix that is only known by its products with vectors. Power
// iteration follows the eigenvalue of the largest size, which early in training is often negative; Lanczos's
// finds the largest.

#include <functional>
#include <vector>

namespace gradus::lab::optimizers {

using Product = std::function<std::vector<double>(const std::vector<double>&)>;

/// Lanczos 1950, with every new vector made orthogonal to all before it: the largest eigenvalue of the matrix
/// seen in the space of start, A start, A A start, ... after `products` of them. Never above the matrix's
/// own, and with 20 products commonly within 1% of it. Throws only what the product throws.
/// `largest_eigenvalue(product, start, 20)`
double largest_eigenvalue(const Product& product, std::vector<double> start, int products);

/// The largest eigenvalue of the symmetric tridiagonal matrix with this diagonal and the entries next to it,
/// by bisection on Sturm's count. `off_diagonal` has at least one element less; more are ignored.
double largest_of_tridiagonal(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal);

}  // namespace gradus::lab::optimizers
