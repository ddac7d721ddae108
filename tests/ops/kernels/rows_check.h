#pragma once
// Softmax and its relations of one row, written out in a wider type, and the kernels compared with them.

#include "kernel_test.h"

namespace gradus::test {

/// exp(x - top), its sum, and top, the largest x.
template <class T>
struct ExactRow {
  std::vector<Wide<T>> power;
  Wide<T> top, total = 0;
  explicit ExactRow(const std::vector<T>& x) : top(x[0]) {
    for (T v : x) top = std::fmax(top, static_cast<Wide<T>>(v));
    for (T v : x) total += power.emplace_back(std::exp(v - top));
  }
};

/// Is `got` exp(x - shift) / total? The difference is rounded, which exp makes relative to its size; the
/// smallest results are denormal.
template <class T>
bool is_power(T got, Wide<T> want, Wide<T> difference) {
  if (want == 0) return got == 0;
  return std::fabs(got - want) <=
         (8 + std::fabs(difference)) * eps<T> * want + 2 * std::numeric_limits<T>::denorm_min();
}

template <class T>
void check_softmax(const kernels::Table<T>& table, const std::vector<T>& x, I offset) {
  const I n = static_cast<I>(x.size());
  const ExactRow<T> exact(x);
  Guarded<T> in(x, n, offset), soft(n, offset), log_soft(n, offset), power(n, offset);
  table.softmax(n, in.data(), soft.data());
  table.log_softmax(n, in.data(), log_soft.data());
  const T total = table.exp_shift_sum(n, static_cast<T>(exact.top), in.data(), power.data());
  // The sum is off by up to half an eps for each addition a term goes through (in float: up to 5 eps were
  // seen in rows of 200 numbers one at a time, 3 with vectors of 8), and its logarithm by as much, however
  // small it is. So log_softmax is compared with what follows from its own sum: there x - top, the logarithm
  // and their difference are rounded by half an eps each, and the first two together are as large as the third.
  const Wide<T> log_total = std::log(static_cast<Wide<T>>(total));
  bool good = soft.intact() && log_soft.intact() && power.intact();
  for (I i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Wide<T> difference = x[k] - exact.top, log_soft_i = difference - log_total;
    good = good && is_power(power[i], exact.power[k], difference);
    good = good && is_power(soft[i], exact.power[k] / exact.total, difference);
    good = good && (log_soft[i] == log_soft_i ||
                    std::fabs(log_soft[i] - log_soft_i) <= 1.5 * eps<T> * std::fabs(log_soft_i));
  }
  CAPTURE(n);
  CHECK(good);
  CHECK(std::fabs(total - exact.total) <= 12 * eps<T> * exact.total);
  CHECK(std::fabs(table.logsumexp(n, in.data()) - (exact.top + log_total)) <=
        1.5 * eps<T> * (std::fabs(exact.top) + log_total));
  table.softmax(n, in.data(), in.data());
  bool in_place = in.intact();
  for (I i = 0; i < n; ++i) in_place = in_place && in[i] == soft[i];
  CHECK(in_place);
}

template <class T>
void check_softmax_grad(const kernels::Table<T>& table, const std::vector<T>& x, I offset) {
  const I n = static_cast<I>(x.size());
  Guarded<T> in(x, n, offset), dy(normal_values<T>(n, 2), n, offset), soft(n, offset), log_soft(n, offset),
      dx(n, offset), log_dx(n, offset);
  table.softmax(n, in.data(), soft.data());
  table.log_softmax(n, in.data(), log_soft.data());
  table.softmax_grad(n, soft.data(), dy.data(), dx.data());
  table.log_softmax_grad(n, log_soft.data(), dy.data(), log_dx.data());
  Wide<T> products = 0, total = 0, product_size = 0, total_size = 0;
  for (I i = 0; i < n; ++i) {
    products += Wide<T>(soft[i]) * dy[i], product_size += std::fabs(soft[i] * dy[i]);
    total += dy[i], total_size += std::fabs(dy[i]);
  }
  bool good = dx.intact() && log_dx.intact();
  for (I i = 0; i < n; ++i) {
    const Wide<T> size = std::fabs(dy[i]), power = std::exp(Wide<T>(log_soft[i]));
    const Wide<T> want = soft[i] * (dy[i] - products), log_want = dy[i] - power * total;
    const Wide<T> denormal = 4 * std::numeric_limits<T>::denorm_min();
    good = good && std::fabs(dx[i] - want) <= 4 * eps<T> * soft[i] * (size + product_size) + denormal;
    good = good && std::fabs(log_dx[i] - log_want) <= 4 * eps<T> * (size + power * total_size) + denormal;
  }
  CAPTURE(n);
  CHECK(good);
}

}  // namespace gradus::test
