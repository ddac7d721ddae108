#include "learn/learn.h"

// A test of what you should know, and of how exercises work. About 8 lines.
//
//   times(A, x)_i = sum_j A_ij x_j              a matrix times a vector: A has rows, A[i][j]
//   slope(x, y)   = (y_n - y_0) / (x_n - x_0)   the slope of the straight line from the first point to the last
//
// Put your code in the place of todo(...). Then run ./run learn 1 again. Each line it prints is a case; a
// case that fails has a hint.
//
// Forbidden: matmul. Plain C++ loops will do.

std::vector<double> times(const std::vector<std::vector<double>>& A, const std::vector<double>& x) {
  return todo(A, x);
}

double slope(const std::vector<double>& x, const std::vector<double>& y) {
  return todo(x, y);
}
