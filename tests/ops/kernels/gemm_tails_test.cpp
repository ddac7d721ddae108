// The matrix product's kernel at every tail of rows, columns and depth, on every instruction set.
// multiply_test.cpp has what is around it.

#include "gemm_check.h"

namespace gradus::test {
namespace {

TEST_CASE_TEMPLATE("gemm at every tail, transposed or not, between fences", T, float, double) {
  const std::vector<T> values = normal_values<T>(300 * 300, 1);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    at_every_tail([&](I n, I offset) {
      ProductCase test{.m = 1 + (n + offset) % 13, .n = n, .k = 1 + (3 * n + offset) % 5, .offset = offset};
      test.pad = n % 3;
      test.extras = n % 2 == 1, test.relu = n % 4 < 2;
      test.transpose_a = offset & 1, test.transpose_b = offset & 2;
      check_gemm(table, test, values);
      std::swap(test.m, test.n);
      check_gemm(table, test, values);
    });
    for (I k : {255, 256, 257, 300})  // around the depth done at a time
      for (I n : {63, 64, 65, 257})
        check_gemm(table, {.m = 97, .n = n, .k = k, .extras = true, .relu = n % 2 == 1}, values);
  });
}

TEST_CASE_TEMPLATE("gemm of operands whose rows lie 4 KiB apart, which it copies first", T, float, double) {
  constexpr I ld = 4096 / sizeof(T);
  const std::vector<T> values = normal_values<T>(300 * ld, 1);
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (const I size : {127, 130, 257})  // of m and n: that the padding makes either's rows ld long
      for (const bool transposed : {false, true})
        check_gemm(
            table,
            {.m = size, .n = size, .k = 270, .pad = ld - size, .transpose_a = transposed, .extras = true},
            values);
  });
}

}  // namespace
}  // namespace gradus::test
