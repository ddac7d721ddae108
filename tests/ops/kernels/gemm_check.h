#pragma once
// A matrix product written out in a wider type, and the kernel compared with it.

#include "kernel_test.h"

namespace gradus::test {

/// A [m, k] B [k, n], either stored transposed; `pad` unused elements between rows.
struct ProductCase {
  I m, n, k, offset = 0, pad = 0;
  bool transpose_a = false, transpose_b = false, extras = false, relu = false;  // extras: alpha, beta D, bias
};

/// Rows that lie `pad` apart; nothing after the last is the matrix's.
template <class T>
Guarded<T> matrix(const std::vector<T>& values, I rows, I columns, const ProductCase& test) {
  const I used = rows > 0 && columns > 0 ? (rows - 1) * (columns + test.pad) + columns : 0;
  return Guarded<T>(values, used, test.offset);
}

template <class T>
void check_gemm(const kernels::Table<T>& table, const ProductCase& test, const std::vector<T>& values) {
  const I m = test.m, n = test.n, k = test.k, pad = test.pad;
  const bool ta = test.transpose_a, tb = test.transpose_b;
  const I lda = (ta ? m : k) + pad, ldb = (tb ? k : n) + pad, ldc = n + pad;
  Guarded<T> a = matrix(values, ta ? k : m, ta ? m : k, test),
             b = matrix(values, tb ? n : k, tb ? k : n, test), c = matrix(values, m, n, test),
             d = matrix(values, m, n, test), bias(values, n, test.offset);
  kernels::Product<T> product{
      .m = m, .n = n, .k = k, .a = {a.data(), lda, ta}, .b = {b.data(), ldb, tb}, .c = c.data(), .ldc = ldc};
  if (test.extras)
    product.alpha = T(-0.5), product.beta = T(0.75), product.d = d.data(), product.bias = bias.data();
  product.relu = test.relu;
  // Fetched, never read: there is no memory at this address.
  if (test.extras) product.ahead = {reinterpret_cast<const char*>(std::uintptr_t{4096}), 100'000};
  table.gemm(product);
  bool good = a.intact() && b.intact() && c.intact() && d.intact() && bias.intact();
  for (I i = 0; i < m; ++i) {
    for (I j = 0; j < n; ++j) {
      auto [want, size] = exact_sum<T>(k, [&](I p) {
        return Wide<T>(product.alpha) * a[ta ? p * lda + i : i * lda + p] * b[tb ? j * ldb + p : p * ldb + j];
      });
      if (test.extras)
        for (const Wide<T> term : {Wide<T>(product.beta) * d[i * ldc + j], Wide<T>(bias[j])})
          want += term, size += std::fabs(term);
      if (test.relu && want < 0) want = 0;
      // Of k additions each rounds by half an epsilon at most; that they add up like a random walk is used.
      good = good && std::fabs(c[i * ldc + j] - want) <= (2 + std::sqrt(double(k))) * eps<T> * size;
    }
    for (I j = n; i + 1 < m && j < ldc; ++j) good = good && c[i * ldc + j] == d[i * ldc + j];  // the padding
  }
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(ta);
  CAPTURE(tb);
  CHECK(good);
}

}  // namespace gradus::test
