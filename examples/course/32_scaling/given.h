#pragma once
// What muP asks of a matrix, and what it may choose.

/// The matrix that reads the data, one from width to width, or the one that writes the result.
enum class Role { input, hidden, output };

/// The standard deviation of the initial weights, and what multiplies Adam's rate and the matrix's product.
struct Factors {
  double std = 0, rate = 1, multiplier = 1;
};
