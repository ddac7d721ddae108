#include "gradus/ops/kernels/multiply.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/ops/backend.h"
#include "gradus/ops/kernels/blas.h"
#include "kernel_test.h"

using namespace gradus;
using kernels::Operand;
using kernels::Path;
using kernels::Product;
using I = std::int64_t;

namespace {

/// Restores the backend after a test.
struct BackendGuard {
  MatmulBackend before = matmul_backend();
  ~BackendGuard() { set_matmul_backend(before); }
};

/// Runs body() with the own kernels of every instruction set this CPU has, and with OpenBLAS.
template <class F>
void for_each_backend(F body) {
  const BackendGuard guard;
  set_matmul_backend(MatmulBackend::gradus);
  test::on_every_isa<float>([&](const auto&) { body(); });
  if (!blas::available()) return;
  set_matmul_backend(MatmulBackend::openblas);
  body();
}

/// Values with NaN after each row, which must not be read or written.
template <class T>
struct Matrix {
  I rows, columns, ld;
  std::vector<T> values;
  Matrix(I r, I c, I pad, double seed) : rows(r), columns(c), ld(c + pad) {
    values.assign(static_cast<std::size_t>(std::max<I>(1, r * ld)), std::numeric_limits<T>::quiet_NaN());
    for (I i = 0; i < rows; ++i)
      for (I j = 0; j < columns; ++j)
        at(i, j) = static_cast<T>(std::sin(seed + 1.7 * static_cast<double>(i * 31 + j * 7)));
  }
  T& at(I i, I j) { return values[static_cast<std::size_t>(i * ld + j)]; }
  double at(I i, I j) const { return static_cast<double>(values[static_cast<std::size_t>(i * ld + j)]); }
  Operand<T> operand(bool transposed) const { return {values.data(), ld, transposed}; }
};

template <class T>
double element(const Operand<T>& x, I i, I j) {
  return static_cast<double>(*x.from(i, j).data);
}

/// The largest error of C in units of what rounding of k + 3 terms may do at most.
template <class T>
double worst_error(const Product<T>& x, const Matrix<T>& d, const Matrix<T>& c) {
  double worst = 0;
  for (I i = 0; i < x.m; ++i)
    for (I j = 0; j < x.n; ++j) {
      double expected = 0, size = 0;
      const auto add = [&](double term) { expected += term, size += std::abs(term); };
      for (I p = 0; p < x.k; ++p) add(static_cast<double>(x.alpha) * element(x.a, i, p) * element(x.b, p, j));
      if (x.beta != 0) add(static_cast<double>(x.beta) * d.at(i, j));
      if (x.bias) add(static_cast<double>(x.bias[j]));
      if (x.relu) expected = std::max(expected, 0.0);
      const double most = std::numeric_limits<T>::epsilon() * static_cast<double>(x.k + 3) * size;
      const double error = std::abs(c.at(i, j) - expected);
      worst = error <= most ? std::max(worst, most == 0 ? 0 : error / most) : INFINITY;
    }
  return worst;
}

template <class T>
bool padding_untouched(const Matrix<T>& c) {
  for (I i = 0; i < c.rows; ++i)
    for (I j = c.columns; j < c.ld; ++j)
      if (!std::isnan(c.at(i, j))) return false;
  return true;
}

/// One product of odd sizes; the bits of `flags` choose transposes, gaps, the start of the sum, ReLU.
template <class T>
void check_product(I m, I n, I k, int flags) {
  const bool ta = flags & 1, tb = flags & 2, other_d = flags & 8;
  const I pad = flags & 4 ? 3 : 0;
  const Matrix<T> a(ta ? k : m, ta ? m : k, pad, 1), b(tb ? n : k, tb ? k : n, pad, 2), d(m, n, pad + 1, 3),
      bias(1, n, 0, 4), before(m, n, pad, 5);
  Matrix<T> c = before;
  Product<T> x{.m = m,
               .n = n,
               .k = k,
               .a = a.operand(ta),
               .b = b.operand(tb),
               .c = c.values.data(),
               .ldc = c.ld,
               .alpha = static_cast<T>(flags & 1 ? 1 : -0.75),
               .beta = static_cast<T>(flags & 6 ? 0.5 : 0),
               .relu = (flags & 32) != 0};
  if (other_d) x.d = d.values.data(), x.ldd = d.ld;
  if (flags & 16) x.bias = bias.values.data();
  kernels::multiply(x);
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(flags);
  CHECK(worst_error(x, other_d ? d : before, c) <= 1);
  CHECK(padding_untouched(c));
}

}  // namespace

TEST_CASE_TEMPLATE("multiply: equals sums written out for odd sizes, transposes, strides and starts", T,
                   float, double) {
  for_each_backend([] {
    for (const I m : {1, 5, 6, 13, 101})
      for (const I n : {1, 7, 16, 33, 65})
        for (const I k : {1, 4, 35})
          for (int flags = 0; flags < 64; ++flags) check_product<T>(m, n, k, flags);
  });
}

TEST_CASE_TEMPLATE("multiply: sizes beyond one block, panel group and depth", T, float, double) {
  for_each_backend([] {
    for (int flags = 0; flags < 64; flags += 3) {
      check_product<T>(199, 300, 10, flags);
      check_product<T>(14, 37, 515, flags);
    }
  });
}

TEST_CASE_TEMPLATE("multiply: an element does not depend on the sizes or its place", T, float, double) {
  const BackendGuard guard;
  set_matmul_backend(MatmulBackend::gradus);
  test::on_every_isa<float>([](const auto&) {
    constexpr I m = 29, n = 139, k = 300;
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const Matrix<T> a(ta ? k : m, ta ? m : k, 0, 1), b(tb ? n : k, tb ? k : n, 0, 2);
        const auto product = [&](I row, I column, I rows, I columns) {
          Matrix<T> c(rows, columns, 0, 0);
          kernels::multiply<T>({.m = rows,
                                .n = columns,
                                .k = k,
                                .a = a.operand(ta).from(row, 0),
                                .b = b.operand(tb).from(0, column),
                                .c = c.values.data(),
                                .ldc = c.ld});
          return c;
        };
        const Matrix<T> whole = product(0, 0, m, n);
        bool equal = true;
        for (const I row : {0, 3, 11})
          for (const I column : {0, 5, 17, 64}) {
            const Matrix<T> part = product(row, column, 18, 75);
            for (I i = 0; i < 18; ++i)
              for (I j = 0; j < 75; ++j) equal = equal && part.at(i, j) == whole.at(row + i, column + j);
          }
        CHECK(equal);
      }
  });
}

TEST_CASE_TEMPLATE("multiply: a tile of one row or column adds up as its whole product does", T, float,
                   double) {
  test::on_every_isa<float>([](const auto&) {
    constexpr I m = 13, n = 65, k = 3000;
    const Matrix<T> a(m, k, 0, 1), b(k, n, 0, 2);
    const auto product = [&](I row, I column, I rows, I columns) {
      Matrix<T> c(rows, columns, 0, 0);
      kernels::multiply<T>({.m = rows,
                            .n = columns,
                            .k = k,
                            .a = a.operand(false).from(row, 0),
                            .b = b.operand(false).from(0, column),
                            .c = c.values.data(),
                            .ldc = c.ld},
                           Path::blocks);
      return c;
    };
    const Matrix<T> whole = product(0, 0, m, n), row = product(12, 0, 1, n), column = product(0, 64, m, 1);
    for (I j = 0; j < n; ++j) CHECK(row.at(0, j) == whole.at(12, j));
    for (I i = 0; i < m; ++i) CHECK(column.at(i, 0) == whole.at(i, 64));
  });
}

TEST_CASE("multiply: single rows and columns do not depend on where they lie in memory") {
  constexpr I k = 203, n = 45;
  const Matrix<float> x(1, k, 0, 1), w(k, n, 0, 2);
  Matrix<float> expected(1, n, 0, 3);
  kernels::multiply<float>({.m = 1,
                            .n = n,
                            .k = k,
                            .a = x.operand(false),
                            .b = w.operand(false),
                            .c = expected.values.data(),
                            .ldc = n});
  for (std::size_t shift = 1; shift < 16; ++shift) {
    std::vector<float> moved(w.values.size() + shift), row(n), apart(2 * n), column(n);
    std::copy(w.values.begin(), w.values.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    const Operand<float> b{moved.data() + shift, n};
    kernels::multiply<float>(
        {.m = 1, .n = n, .k = k, .a = x.operand(false), .b = b, .c = row.data(), .ldc = n});
    CHECK(row == expected.values);
    // The same product as a column: w^T x^T, into every second element.
    kernels::multiply<float>(
        {.m = n, .n = 1, .k = k, .a = {b.data, n, true}, .b = x.operand(true), .c = apart.data(), .ldc = 2});
    for (std::size_t i = 0; i < n; ++i) column[i] = apart[2 * i];
    CHECK(column == expected.values);
  }
}

TEST_CASE("multiply: NaN where it takes part and nowhere else; beta 0 does not read D") {
  for_each_backend([] {
    Matrix<float> a(7, 3, 0, 1), b(3, 19, 0, 2), c(7, 19, 0, 3);
    std::fill(c.values.begin(), c.values.end(), std::numeric_limits<float>::quiet_NaN());
    a.at(2, 1) = std::numeric_limits<float>::infinity();
    b.at(1, 4) = 0;  // infinity times 0
    kernels::multiply<float>({.m = 7,
                              .n = 19,
                              .k = 3,
                              .a = a.operand(false),
                              .b = b.operand(false),
                              .c = c.values.data(),
                              .ldc = 19});
    for (I i = 0; i < 7; ++i)
      for (I j = 0; j < 19; ++j) CHECK(std::isnan(c.at(i, j)) == (i == 2 && j == 4));
  });
}

TEST_CASE("multiply: without a sum C is what it starts from") {
  for_each_backend([] {
    Matrix<float> c(3, 4, 1, 5);
    const Matrix<float> before = c, bias(1, 4, 0, 6);
    Product<float> x{.m = 3,
                     .n = 4,
                     .k = 0,
                     .a = {nullptr, 0},
                     .b = {nullptr, 4},
                     .c = c.values.data(),
                     .ldc = c.ld,
                     .beta = 2,
                     .bias = bias.values.data()};
    kernels::multiply(x);
    CHECK(c.at(2, 3) == doctest::Approx(2 * before.at(2, 3) + bias.at(0, 3)));
    x.relu = true;
    x.beta = 0;
    kernels::multiply(x);
    for (I j = 0; j < 4; ++j) CHECK(c.at(2, j) == std::max(0.0, bias.at(0, j)));
    CHECK(padding_untouched(c));
    x.m = 0;
    x.c = nullptr;
    kernels::multiply(x);  // nothing to write
  });
}

TEST_CASE("multiply: rows that overlap are refused") {
  float x[64] = {};
  const auto call = [&](Operand<float> a, Operand<float> b, I ldc) {
    kernels::multiply<float>({.m = 2, .n = 3, .k = 4, .a = a, .b = b, .c = x, .ldc = ldc});
  };
  const auto message = [](const char* what, const char* shape, int least, int got) {
    return std::string("multiply: ") + what + " is " + shape + ": its row stride must be at least " +
           std::to_string(least) + ", got " + std::to_string(got);
  };
  CHECK_THROWS_WITH_AS(call({x, 3}, {x, 3}, 3), message("a", "[2, 4]", 4, 3).c_str(), Error);
  CHECK_THROWS_WITH_AS(call({x, 1, true}, {x, 3}, 3), message("a", "[4, 2]", 2, 1).c_str(), Error);
  CHECK_THROWS_WITH_AS(call({x, 4}, {x, 3, true}, 3), message("b", "[3, 4]", 4, 3).c_str(), Error);
  CHECK_THROWS_WITH_AS(call({x, 4}, {x, 3}, 2), message("c", "[2, 3]", 3, 2).c_str(), Error);
}
