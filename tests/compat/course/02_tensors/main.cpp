// One block of numbers, many ways to look at it.
// Its chapter: docs/course/02_tensors/README.md
//
//   place of x[i][j] in memory = offset + i * strides[0] + j * strides[1]
//
// Transposing, slicing and selecting only record a new shape and new strides. No data moves, so a write
// through one view is visible through all of them.

#include <cstdio>
#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [layout]
/// One row of the table; two tensors share their data if they have the same storage.
void layout(const char* name, const Tensor& x, const Tensor& base) {
  const bool shared = x.array().storage() == base.array().storage();
  std::printf("%-22s %-13s %-14s %6d   %s\n", name, to_string(x.shape()).c_str(),
              to_string(x.strides()).c_str(), static_cast<int>(x.array().offset()), shared ? "x" : "its own");
}
// [/layout]

void heading() { std::printf("%-22s %-13s %-14s %6s   %s\n", "", "shape", "strides", "offset", "data of"); }

void looking() {
  const Tensor x = arange(12).reshape({3, 4});
  std::cout << "x = arange(12).reshape({3, 4})\n" << x << "\n\n";
  heading();
  // [views]
  layout("x", x, x);
  layout("x.t()", x.t(), x);
  layout("x[1]", x[1], x);
  layout("x.select(1, 2)", x.select(1, 2), x);            // x[:, 2]
  layout("x.slice(0, 1, 3)", x.slice(0, 1, 3), x);        // x[1:3]
  layout("x.slice(1, 0, 4, 2)", x.slice(1, 0, 4, 2), x);  // x[:, 0:4:2]
  layout("x.reshape({2, 6})", x.reshape({2, 6}), x);
  layout("x.t().reshape({12})", x.t().reshape({12}), x);  // no strides describe this order
  layout("x.clone()", x.clone(), x);
  // [/views]
}

void writing() {
  // [write]
  Tensor x = zeros({3, 4});
  Tensor before = x.clone();
  x[1] = 7.0;              // row 1 is a view: this writes into x
  x.slice(1, 3, 4) = 9.0;  // so does this, into the last column
  Tensor y = x;            // a second handle, not a copy
  y.t()[0] = 5.0;          // row 0 of the transpose is column 0 of x
  // [/write]
  std::cout << "\nx after x[1] = 7, x.slice(1, 3, 4) = 9 and, with y = x, y.t()[0] = 5:\n" << x << '\n';
  std::cout << "its clone from before is still all zero: " << (before == 0.0).all() << '\n';
}

void splitting_heads() {
  // [heads]
  const int B = 2, T = 3, C = 8, H = 4, D = C / H;
  const Tensor x = arange(B * T * C).reshape({B, T, C});
  const Tensor heads = x.view({B, T, H, D}).transpose(1, 2);  // [B, H, T, D]
  const Tensor merged = heads.transpose(1, 2).view({B, T, C});

  const Tensor fresh = heads.clone();  // contiguous, like the result of a matrix product
  const Tensor fresh_merged = fresh.transpose(1, 2).reshape({B, T, C});
  // [/heads]
  std::printf("\nAttention splits C = %d channels into H = %d heads. That too is only a view:\n\n", C, H);
  heading();
  layout("x      [B, T, C]", x, x);
  layout("heads  [B, H, T, D]", heads, x);
  layout("merged [B, T, C]", merged, x);
  layout("fresh_merged", fresh_merged, x);
  std::cout << "\nx[0], a row for each position:\n"
            << x[0] << "\nits head 1, channels 2 and 3:\n"
            << heads[0][1] << '\n';

  // [trap]
  try {
    heads.view({B, T, C});  // forgot to transpose back
  } catch (const Error& error) {
    std::cout << "\nForget to transpose back, and view() refuses:\n  " << error.what() << '\n';
  }
  const Tensor scrambled = heads.reshape({B, T, C});
  const Tensor unnoticed = fresh.view({B, T, C});  // view() cannot notice it
  // [/trap]
  std::cout << "reshape() copies as told, and position 0 gets values of positions 1 and 2:\n  "
            << scrambled[0][0]
            << "\nFresh heads are contiguous, so view() does not notice the same mistake:\n  "
            << unnoticed[0][0] << '\n';
}

void picking() {
  // [pick]
  const Tensor x = arange(6).reshape({3, 2});
  const Tensor rows = x[tensor({2, 0})];  // indices pick rows 2 and 0
  const Tensor large = x[x > 2];          // a mask picks the elements where it is true
  x[x > 3] = 0;                           // assigned to, both write into x
  x[tensor({0, 2})] += 10;
  // [/pick]
  std::cout << "\nx[tensor({2, 0})] and x[x > 2] of the rows [0, 1], [2, 3], [4, 5]:\n"
            << rows << '\n'
            << large << "\nand x after x[x > 3] = 0 and x[tensor({0, 2})] += 10:\n"
            << x << '\n';
}

}  // namespace

int main() {
  std::cout << std::boolalpha;
  looking();
  writing();
  splitting_heads();
  picking();
}
