// Layer norm and RMS norm of one row, on every instruction set.

#include <tuple>

#include "kernel_test.h"

namespace gradus::test {
namespace {

template <class T>
struct Row {
  std::vector<T> x, weight, bias, dy;
  explicit Row(I n, double mean = 0)
      : x(normal_values<T>(n, 1)),
        weight(normal_values<T>(n, 2)),
        bias(normal_values<T>(n, 3)),
        dy(normal_values<T>(n, 4)) {
    for (T& v : x) v += static_cast<T>(mean);
  }
};

/// Mean (0 when not centred) and 1 / sqrt(mean square deviation + eps), in the wider type.
template <class T>
std::pair<Wide<T>, Wide<T>> exact_moments(const std::vector<T>& x, bool centred) {
  Wide<T> mean = 0, square = 0;
  const Wide<T> n = static_cast<Wide<T>>(x.size());
  if (centred)
    for (T v : x) mean += v / n;
  for (T v : x) square += (v - mean) * (v - mean) / n;
  return {mean, 1 / std::sqrt(square + Wide<T>(T(1e-5)))};
}

/// The normalised row and the gradient for it, either kind of norm.
template <class T>
struct Exact {
  std::vector<Wide<T>> xhat, dx;
  Wide<T> mean, rstd, dx_size = 1;
  Exact(const Row<T>& row, bool centred, bool weighted) {
    std::tie(mean, rstd) = exact_moments(row.x, centred);
    Wide<T> mean_dn = 0, mean_dn_xhat = 0;
    const Wide<T> n = static_cast<Wide<T>>(row.x.size());
    std::vector<Wide<T>> dn;
    for (std::size_t i = 0; i < row.x.size(); ++i) {
      xhat.push_back((row.x[i] - mean) * rstd);
      dn.push_back(row.dy[i] * (weighted ? Wide<T>(row.weight[i]) : 1));
      mean_dn += dn[i] / n, mean_dn_xhat += dn[i] * xhat[i] / n;
      dx_size = std::fmax(dx_size, rstd * std::fabs(dn[i]));
    }
    for (std::size_t i = 0; i < row.x.size(); ++i)
      dx.push_back(rstd * (dn[i] - (centred ? mean_dn : 0) - xhat[i] * mean_dn_xhat));
  }
};

// x carries relative rounding errors of its own once it is shifted by a mean: `mean` enters the bound.
template <class T>
void check_norm(const kernels::Table<T>& table, I n, I offset, double mean, bool weighted, bool centred) {
  Row<T> row(n, mean);
  const Exact<T> exact(row, centred, weighted);
  Guarded<T> x(row.x, n, offset), weight(row.weight, n, offset), bias(row.bias, n, offset),
      dy(row.dy, n, offset);
  Guarded<T> y(n, offset), dx(n, offset), dweight(row.bias, n, offset), dbias(row.bias, n, offset);
  const T* w = weighted ? weight.data() : nullptr;
  T* dw = weighted ? dweight.data() : nullptr;
  T m = 0, r = 0;
  if (centred) {
    table.layer_norm(n, T(1e-5), x.data(), w, weighted ? bias.data() : nullptr, y.data(), &m, &r);
    table.layer_norm_grad(n, x.data(), w, m, r, dy.data(), dx.data(), dw, weighted ? dbias.data() : nullptr);
  } else {
    table.rms_norm(n, T(1e-5), x.data(), w, y.data(), &r);
    table.rms_norm_grad(n, x.data(), w, r, dy.data(), dx.data(), dw);
  }
  const double rstd = static_cast<double>(exact.rstd),
               slack = 16 * eps<T> * (1 + std::fabs(mean)) * std::fmax(1.0, rstd);
  CHECK(std::fabs(m - exact.mean) <= 2 * eps<T> * (std::fabs(mean) + 1));
  CHECK(std::fabs(r - exact.rstd) <= 4 * eps<T> * rstd * std::fmax(1.0, rstd * rstd));
  bool good = y.intact() && dx.intact() && dweight.intact() && dbias.intact();
  for (I i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Wide<T> xhat = exact.xhat[k];
    const Wide<T> want = weighted ? xhat * row.weight[k] + (centred ? Wide<T>(row.bias[k]) : 0) : xhat;
    good = good && std::fabs(y[i] - want) <= slack * (1 + std::fabs(want));
    good = good && std::fabs(dx[i] - exact.dx[k]) <= slack * static_cast<double>(exact.dx_size);
    const Wide<T> want_dw = row.bias[k] + (weighted ? row.dy[k] * xhat : 0);
    const Wide<T> want_db = row.bias[k] + (weighted && centred ? Wide<T>(row.dy[k]) : 0);
    good = good && std::fabs(dweight[i] - want_dw) <= slack * (1 + std::fabs(want_dw));
    good = good && std::fabs(dbias[i] - want_db) <= slack * (1 + std::fabs(want_db));
  }
  CAPTURE(mean);
  CAPTURE(weighted);
  CAPTURE(centred);
  CHECK(good);
}

TEST_CASE_TEMPLATE("layer norm and RMS norm, forward and backward, with and without weights", T, float,
                   double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (bool centred : {false, true})
      for (bool weighted : {false, true}) {
        at_every_tail([&](I n, I offset) {
          if (n > 1) check_norm(table, n, offset, 0, weighted, centred);
        });
        for (I n : {768, 1024, 5003}) check_norm(table, n, 1, 0, weighted, centred);
      }
    check_norm(table, 768, 0, 1000, true,
               true);  // variance 1 around a mean of 1000: one-pass formulas lose it
    check_norm(table, 4099, 0, -300, true, true);
  });
}

TEST_CASE_TEMPLATE("layer norm of a constant row is exactly its bias, with finite gradients", T, float,
                   double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    for (I n : {1, 2, 3, 7, 16, 70, 768, 3001})
      for (T value : {T(0), T(0.1), T(-1.0 / 3), T(1e6), T(12345.678), T(1e-30),
                      std::numeric_limits<T>::denorm_min()}) {
        const std::vector<T> x(static_cast<std::size_t>(n), value), weight = normal_values<T>(n, 1),
                                                                    bias = normal_values<T>(n, 2);
        std::vector<T> y(x.size()), dx(x.size());
        T mean = 0, rstd = 0;
        table.layer_norm(n, T(1e-5), x.data(), weight.data(), bias.data(), y.data(), &mean, &rstd);
        CAPTURE(n);
        CAPTURE(value);
        CHECK(mean == value);
        CHECK(y == bias);
        table.layer_norm_grad(n, x.data(), weight.data(), mean, rstd, bias.data(), dx.data(), nullptr,
                              nullptr);
        bool finite = true;
        for (T v : dx) finite = finite && std::isfinite(v);
        CHECK(finite);
      }
  });
}

TEST_CASE_TEMPLATE("norm gradients accumulate weights without dx, and pass NaN on", T, float, double) {
  on_every_isa<T>([&](const kernels::Table<T>& table) {
    const Row<T> row(21);
    std::vector<T> dweight(21, T(1)), dbias(21, T(1)), rms_dweight(21, T(1));
    table.layer_norm_grad(21, row.x.data(), row.weight.data(), 0, 1, row.dy.data(), nullptr, dweight.data(),
                          dbias.data());
    table.rms_norm_grad(21, row.x.data(), row.weight.data(), 1, row.dy.data(), nullptr, rms_dweight.data());
    for (std::size_t i = 0; i < 21; ++i) {
      CHECK(std::fabs(dweight[i] - (1 + row.dy[i] * row.x[i])) <= 8 * eps<T>);
      CHECK(dweight[i] == rms_dweight[i]);
      CHECK(dbias[i] == 1 + row.dy[i]);
    }
    std::vector<T> x = row.x, y(21);
    x[20] = std::numeric_limits<T>::quiet_NaN();
    T mean = 0, rstd = 0;
    table.layer_norm(21, T(1e-5), x.data(), nullptr, nullptr, y.data(), &mean, &rstd);
    for (T v : y) CHECK(std::isnan(v));
  });
}

}  // namespace
}  // namespace gradus::test
