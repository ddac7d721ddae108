#pragma once
// The norms of one row and their gradients, written out in a wider type, and the kernels compared with them.

#include <tuple>

#include "kernel_test.h"

namespace gradus::test {

template <class T>
struct Row {
  std::vector<T> x, weight, bias, dy;
  explicit Row(I n, double mean = 0, double scale = 1, std::uint64_t seed = 0)
      : x(normal_values<T>(n, 4 * seed + 1, scale)),
        weight(normal_values<T>(n, 4 * seed + 2)),
        bias(normal_values<T>(n, 4 * seed + 3)),
        dy(normal_values<T>(n, 4 * seed + 4)) {
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
  Wide<T> mean, rstd, dx_size = 0;
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

/// Which row, and what to do with it: values of size `scale` around `mean` times that.
struct NormCase {
  I n, offset;
  bool weighted, centred;
  double mean = 0, scale = 1;
  std::uint64_t seed = 0;
};

// x - mean loses the digits that the mean takes up: it enters the bound.
template <class T>
void check_norm(const kernels::Table<T>& table, const NormCase& test) {
  const I n = test.n, offset = test.offset;
  const bool weighted = test.weighted, centred = test.centred;
  const double mean = test.mean, scale = test.scale;
  Row<T> row(n, mean * scale, scale, test.seed);
  const Exact<T> exact(row, centred, weighted);
  Guarded<T> x(row.x, n, offset), weight(row.weight, n, offset), bias(row.bias, n, offset),
      dy(row.dy, n, offset);
  Guarded<T> y(n, offset), dx(n, offset), dweight(row.bias, n, offset), dbias(row.bias, n, offset);
  const T* w = weighted ? weight.data() : nullptr;
  T* dw = weighted ? dweight.data() : nullptr;
  T m = 0, r = 0;
  if (centred) {
    table.layer_norm(1, n, T(1e-5), x.data(), w, weighted ? bias.data() : nullptr, y.data(), &m, &r);
    table.layer_norm_grad(1, n, x.data(), w, &m, &r, dy.data(), dx.data(), dw,
                          weighted ? dbias.data() : nullptr);
  } else {
    table.rms_norm(n, T(1e-5), x.data(), w, y.data(), &r);
    table.rms_norm_grad(n, x.data(), w, r, dy.data(), dx.data(), dw);
  }
  const double slack = 16 * eps<T> * (1 + std::fabs(mean));
  bool good = std::fabs(m - exact.mean) <= 2 * eps<T> * scale * (1 + std::fabs(mean));
  good = good && std::fabs(r - exact.rstd) <= 4 * eps<T> * exact.rstd * (1 + std::fabs(mean));
  good = good && y.intact() && dx.intact() && dweight.intact() && dbias.intact();
  for (I i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Wide<T> xhat = exact.xhat[k];
    const Wide<T> want = weighted ? xhat * row.weight[k] + (centred ? Wide<T>(row.bias[k]) : 0) : xhat;
    good = good && std::fabs(y[i] - want) <= slack * (1 + std::fabs(want));
    good = good && std::fabs(dx[i] - exact.dx[k]) <= slack * exact.dx_size;
    const Wide<T> want_dw = row.bias[k] + (weighted ? row.dy[k] * xhat : 0);
    const Wide<T> want_db = row.bias[k] + (weighted && centred ? Wide<T>(row.dy[k]) : 0);
    good = good && std::fabs(dweight[i] - want_dw) <= slack * (1 + std::fabs(want_dw));
    good = good && std::fabs(dbias[i] - want_db) <= slack * (1 + std::fabs(want_db));
  }
  CAPTURE(n);
  CAPTURE(mean);
  CAPTURE(scale);
  CAPTURE(weighted);
  CAPTURE(centred);
  CHECK(good);
}

}  // namespace gradus::test
