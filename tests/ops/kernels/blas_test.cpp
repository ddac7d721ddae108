#include "gradus/ops/kernels/blas.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "gradus/core/error.h"
#include "gradus/core/threads/parallel.h"

using namespace gradus;
using I = std::int64_t;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A row-major matrix with `pad` unused elements after each row, which hold NaN.
template <class T>
struct Matrix {
  I rows, columns, ld;
  std::vector<T> values;

  Matrix(I r, I c, I pad, int seed)
      : rows(r), columns(c), ld(c + pad), values(static_cast<std::size_t>(r * ld + pad)) {
    for (T& value : values) value = static_cast<T>(kNaN);
    for (I i = 0; i < rows; ++i)
      for (I j = 0; j < columns; ++j)
        at(i, j) = static_cast<T>(std::sin(1.7 * static_cast<double>(i * 31 + j * 7 + seed)));
  }
  T& at(I i, I j) { return values[static_cast<std::size_t>(i * ld + j)]; }
  T at(I i, I j) const { return values[static_cast<std::size_t>(i * ld + j)]; }
};

template <class T>
void gemm(bool ta, bool tb, T alpha, const Matrix<T>& a, const Matrix<T>& b, T beta, Matrix<T>& c) {
  blas::gemm(ta, tb, c.rows, c.columns, ta ? a.rows : a.columns, alpha, a.values.data(), a.ld,
             b.values.data(), b.ld, beta, c.values.data(), c.ld);
}

/// The largest difference from sums written out, in units of what rounding may do at most.
template <class T>
double worst_error(bool ta, bool tb, T alpha, const Matrix<T>& a, const Matrix<T>& b, T beta,
                   const Matrix<T>& before, const Matrix<T>& after) {
  const I k = ta ? a.rows : a.columns;
  double worst = 0;
  for (I i = 0; i < after.rows; ++i)
    for (I j = 0; j < after.columns; ++j) {
      double expected = 0, size = 0;
      const auto add = [&](double term) { expected += term, size += std::abs(term); };
      for (I l = 0; l < k; ++l)
        add(static_cast<double>(alpha) * static_cast<double>(ta ? a.at(l, i) : a.at(i, l)) *
            static_cast<double>(tb ? b.at(j, l) : b.at(l, j)));
      if (beta != 0) add(static_cast<double>(beta) * static_cast<double>(before.at(i, j)));
      const double error = std::abs(expected - static_cast<double>(after.at(i, j)));
      const double most =
          static_cast<double>(std::numeric_limits<T>::epsilon() * static_cast<T>(k + 3)) * size;
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                : std::max(worst, error == 0 ? 0 : error / most);
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

}  // namespace

TEST_CASE_TEMPLATE("gemm: equals sums written out for all shapes, transposes and strides", T, float, double) {
  for (const I m : {1, 2, 3, 16, 37})
    for (const I n : {1, 2, 5, 16, 65})
      for (const I k : {1, 3, 16, 70})
        for (int flags = 0; flags < 8; ++flags) {
          const bool ta = flags & 1, tb = flags & 2;
          const I pad = flags & 4 ? 3 : 0;
          const T alpha = static_cast<T>(flags & 1 ? 1 : -0.75), beta = static_cast<T>(flags & 2 ? 0.5 : 0);
          const Matrix<T> a(ta ? k : m, ta ? m : k, pad, 1), b(tb ? n : k, tb ? k : n, pad, 2);
          const Matrix<T> before(m, n, pad, 3);
          Matrix<T> c = before;
          gemm(ta, tb, alpha, a, b, beta, c);
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(flags);
          CHECK(worst_error(ta, tb, alpha, a, b, beta, before, c) < 1);
          CHECK(padding_untouched(c));
        }
}

TEST_CASE_TEMPLATE("gemm: beta 0 overwrites NaN, beta 1 adds", T, float, double) {
  for (const I m : {1, 4})
    for (const I n : {1, 6})
      for (const I k : {0, 5}) {
        const Matrix<T> a(m, k, 0, 1), b(k, n, 0, 2);
        Matrix<T> c(m, n, 2, 3);
        for (I i = 0; i < m; ++i)
          for (I j = 0; j < n; ++j) c.at(i, j) = static_cast<T>(kNaN);
        gemm(false, false, T{1}, a, b, T{0}, c);
        CHECK(worst_error(false, false, T{1}, a, b, T{0}, c, c) < 1);
        const Matrix<T> before = c;
        gemm(false, false, T{2}, a, b, T{1}, c);
        CHECK(worst_error(false, false, T{2}, a, b, T{1}, before, c) < 1);
        gemm(false, false, T{0}, a, b, T{-2}, c);
        CHECK(c.at(m - 1, n - 1) == -6 * before.at(m - 1, n - 1));
        CHECK(padding_untouched(c));
      }
}

TEST_CASE_TEMPLATE("gemm: empty sizes", T, float, double) {
  Matrix<T> c(3, 4, 1, 5);
  const Matrix<T> before = c;
  const Matrix<T> a(3, 0, 0, 0), b(0, 4, 0, 0);
  gemm(false, false, T{1}, a, b, T{1}, c);
  CHECK(c.at(2, 3) == before.at(2, 3));
  gemm(false, false, T{1}, a, b, T{0}, c);
  for (I i = 0; i < 3; ++i)
    for (I j = 0; j < 4; ++j) CHECK(c.at(i, j) == 0);
  CHECK(padding_untouched(c));
  T untouched = 7;
  blas::gemm<T>(false, false, 0, 5, 5, 1, nullptr, 5, nullptr, 5, 0, &untouched, 5);
  blas::gemm<T>(false, false, 5, 0, 5, 1, nullptr, 5, nullptr, 0, 0, &untouched, 0);
  CHECK(untouched == 7);
}

TEST_CASE("gemm: NaN and infinity pass through where they take part") {
  for (const I m : {1, 3})
    for (const I n : {1, 3}) {
      Matrix<float> a(m, 3, 0, 1), b(3, n, 0, 2), c(m, n, 0, 3);
      a.at(0, 1) = std::numeric_limits<float>::infinity();
      b.at(1, 0) = 0;  // infinity times 0 is NaN
      gemm(false, false, 1.0f, a, b, 0.0f, c);
      CHECK(std::isnan(c.at(0, 0)));
      if (m > 1) CHECK(std::isfinite(c.at(1, 0)));
    }
}

TEST_CASE("gemm: single rows and columns do not depend on where they lie in memory") {
  constexpr I k = 203, n = 45;
  const Matrix<float> x(1, k, 0, 1), w(k, n, 0, 2);
  Matrix<float> expected(1, n, 0, 3);
  gemm(false, false, 1.0f, x, w, 0.0f, expected);
  for (std::size_t shift = 1; shift < 16; ++shift) {
    std::vector<float> moved(w.values.size() + shift);
    std::copy(w.values.begin(), w.values.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    std::vector<float> row(n), column(n);
    blas::gemm<float>(false, false, 1, n, k, 1, x.values.data(), k, moved.data() + shift, n, 0, row.data(),
                      n);
    CHECK(row == expected.values);
    // The same product as a column: w^T x^T, into every second element.
    std::vector<float> spread(2 * n);
    blas::gemm<float>(true, true, n, 1, k, 1, moved.data() + shift, n, x.values.data(), k, 0, spread.data(),
                      2);
    for (std::size_t i = 0; i < n; ++i) column[i] = spread[2 * i];
    CHECK(column == expected.values);
  }
}

TEST_CASE("gemm: the same bits on any thread, with many at once") {
  constexpr I size = 96;
  const Matrix<float> a(size, size, 0, 1), b(size, size, 0, 2);
  Matrix<float> expected(size, size, 0, 3);
  gemm(false, true, 1.0f, a, b, 0.0f, expected);
  std::vector<int> wrong(4);
  const auto work = [&](std::size_t id) {
    for (int round = 0; round < 100; ++round) {
      Matrix<float> c(size, size, 0, 4);
      gemm(false, true, 1.0f, a, b, 0.0f, c);
      wrong[id] += c.values != expected.values;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < wrong.size(); ++id) threads.emplace_back(work, id);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));

  // And as tiles of one product on the pool.
  const int before = num_threads();
  set_num_threads(4);
  Matrix<float> tiled(size, size, 0, 5);
  parallel_for(size, 32, [&](I begin, I end) {
    blas::gemm<float>(false, true, end - begin, size, size, 1,
                      &a.values[static_cast<std::size_t>(begin * size)], size, b.values.data(), size, 0,
                      &tiled.values[static_cast<std::size_t>(begin * size)], size);
  });
  set_num_threads(before);
  CHECK(worst_error(false, true, 1.0f, a, b, 0.0f, tiled, tiled) < 1);
}

TEST_CASE("gemm: bad arguments are refused before OpenBLAS sees them") {
  std::vector<float> x(64, 1), c(64, 5);
  const auto call = [&](bool ta, bool tb, I m, I n, I k, I lda, I ldb, I ldc) {
    blas::gemm<float>(ta, tb, m, n, k, 1, x.data(), lda, x.data(), ldb, 0, c.data(), ldc);
  };
  const std::string limits = ": each must lie in 0 .. 2147483647";
  CHECK_THROWS_WITH_AS(call(false, false, 2, 3, 4, 3, 3, 3),
                       "gemm: a is [2, 4]: its row stride must be at least 4, got 3", Error);
  CHECK_THROWS_WITH_AS(call(true, false, 2, 3, 4, 1, 3, 3),
                       "gemm: a is [4, 2]: its row stride must be at least 2, got 1", Error);
  CHECK_THROWS_WITH_AS(call(false, true, 2, 3, 4, 4, 3, 3),
                       "gemm: b is [3, 4]: its row stride must be at least 4, got 3", Error);
  CHECK_THROWS_WITH_AS(call(false, false, 2, 3, 4, 4, 3, 2),
                       "gemm: c is [2, 3]: its row stride must be at least 3, got 2", Error);
  CHECK_THROWS_WITH_AS(call(false, false, -1, 3, 4, 4, 3, 3),
                       ("gemm: a is [-1, 4] with row stride 4" + limits).c_str(), Error);
  const I large = I{1} << 31;
  CHECK_THROWS_WITH_AS(call(false, false, 2, large, 4, 4, large, large),
                       ("gemm: b is [4, 2147483648] with row stride 2147483648" + limits).c_str(), Error);
  CHECK_THROWS_WITH_AS(call(false, false, large, 2, 4, 4, 2, 2),
                       ("gemm: a is [2147483648, 4] with row stride 4" + limits).c_str(), Error);
  CHECK_THROWS_WITH_AS(call(false, false, 2, 2, 4, large, 2, 2),
                       ("gemm: a is [2, 4] with row stride 2147483648" + limits).c_str(), Error);
  CHECK(c == std::vector<float>(64, 5));
}

TEST_CASE("blas: the kernel set has a name") { CHECK_FALSE(blas::core_name().empty()); }
