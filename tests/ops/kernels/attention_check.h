#pragma once
// Attention's kernels on one tile of scores, compared with softmax written out in a wider type.

#include <algorithm>
#include <bit>

#include "rows_check.h"

namespace gradus::test {

/// A tile of scores with a gap after each row; row r sees its first seen + step r keys.
template <class T>
struct ScoreTile {
  I rows, keys, ld, seen, step;
  std::vector<T> x;  // without NaN

  ScoreTile(I r, I n, I first, I more, std::uint64_t seed)
      : rows(r), keys(n), ld(n + 3), seen(first), step(more), x(normal_values<T>(r * (n + 3), seed, 4)) {
    for (std::size_t i = 5; i < x.size(); i += 17) x[i] = -std::numeric_limits<T>::infinity();
  }
  I seen_by(I r) const { return std::clamp<I>(seen + step * r, 0, keys); }
  T at(I r, I j) const { return x[static_cast<std::size_t>(r * ld + j)]; }
  /// Keys first .. first + n - 1 of the tile.
  kernels::ScoreRows<T> part(T* data, I first, I n) const {
    return {rows, n, data + first, ld, seen - first, step};
  }
  /// The softmax of what row r sees, as top and total; -inf and 0 where that is nothing.
  std::pair<Wide<T>, Wide<T>> softmax(I r) const {
    Wide<T> top = -std::numeric_limits<Wide<T>>::infinity(), total = 0;
    for (I j = 0; j < seen_by(r); ++j) top = std::fmax(top, Wide<T>(at(r, j)));
    for (I j = 0; j < seen_by(r); ++j)
      if (at(r, j) > -std::numeric_limits<T>::infinity()) total += std::exp(at(r, j) - top);
    return {top, total};
  }
  /// What lies between the rows is as it was.
  bool gaps_untouched(Guarded<T>& values) const {
    bool good = values.intact();
    for (I r = 0; r < rows; ++r)
      for (I j = keys; j < ld; ++j) good = good && values[r * ld + j] == at(r, j);
    return good;
  }
};

/// In two calls, with `split` keys in the first.
template <class T>
void check_attention_exp(const kernels::Table<T>& table, const ScoreTile<T>& tile, I split, I offset) {
  const auto n = static_cast<std::size_t>(tile.rows);
  const T infinity = std::numeric_limits<T>::infinity();
  Guarded<T> s(tile.x, tile.rows * tile.ld, offset);
  std::vector<T> largest(n, -infinity), sum(n, 0), correction(n);
  table.attention_exp(tile.part(s.data(), 0, split), largest.data(), sum.data(), correction.data());
  table.attention_exp(tile.part(s.data(), split, tile.keys - split), largest.data(), sum.data(),
                      correction.data());
  bool good = tile.gaps_untouched(s);
  for (I r = 0; r < tile.rows; ++r) {
    const auto k = static_cast<std::size_t>(r);
    const auto [top, total] = tile.softmax(r);
    good = good && largest[k] == top && std::fabs(sum[k] - total) <= 16 * eps<T> * total;
    for (I j = 0; j < tile.keys; ++j) {
      const bool nothing = j >= tile.seen_by(r) || total == 0;
      const Wide<T> difference = nothing ? 0 : tile.at(r, j) - top, want = nothing ? 0 : std::exp(difference);
      const T got = j < split && !nothing ? s[r * tile.ld + j] * correction[k] : s[r * tile.ld + j];
      good = good && is_power(got, want, 2 * difference);
    }
  }
  CAPTURE(tile.keys);
  CAPTURE(split);
  CHECK(good);
}

/// Rows of sums, some of which saw nothing and hold a NaN.
template <class T>
void check_attention_output(const kernels::Table<T>& table, I rows, I n, I offset) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const I ld = n + 3;
  std::vector<T> values = normal_values<T>(rows * ld, 8), largest = normal_values<T>(rows, 9, 4),
                 sum = normal_values<T>(rows, 10);
  for (I r = 0; r < rows; ++r) {
    T& total = sum[static_cast<std::size_t>(r)];
    total = r % 5 == 3 ? 0 : 1 + std::fabs(total);
    if (total == 0) largest[static_cast<std::size_t>(r)] = -infinity;
    if (total == 0 && n > 0) values[static_cast<std::size_t>(r * ld)] = std::numeric_limits<T>::quiet_NaN();
  }
  Guarded<T> out(values, rows * ld, offset), top(largest, rows, offset), inverse(sum, rows, offset);
  table.attention_output(rows, n, top.data(), inverse.data(), out.data(), ld);
  bool good = out.intact() && top.intact() && inverse.intact();
  for (I r = 0; r < rows; ++r) {
    const auto k = static_cast<std::size_t>(r);
    good = good && top[r] == (sum[k] == 0 ? 0 : largest[k]) && inverse[r] == (sum[k] == 0 ? 0 : 1 / sum[k]);
    for (I j = 0; j < ld; ++j) {
      const T before = values[static_cast<std::size_t>(r * ld + j)];
      const Wide<T> want = j >= n ? before : sum[k] == 0 ? 0 : Wide<T>(before) / sum[k];
      good = good && std::fabs(out[r * ld + j] - want) <= 2 * eps<T> * std::fabs(want);
    }
  }
  CAPTURE(rows);
  CAPTURE(n);
  CHECK(good);
}

template <class T>
void check_attention_delta(const kernels::Table<T>& table, I rows, I n, I offset) {
  const I ld_dout = n + 2, ld_out = n + 3;
  Guarded<T> dout(normal_values<T>(rows * ld_dout, 11), (rows - 1) * ld_dout + n, offset),
      out(normal_values<T>(rows * ld_out, 12), (rows - 1) * ld_out + n, offset),
      delta(normal_values<T>(rows, 13), rows, offset);
  table.attention_delta(rows, n, dout.data(), ld_dout, out.data(), ld_out, delta.data());
  bool good = delta.intact();
  for (I r = 0; r < rows; ++r) {
    const auto [want, size] =
        exact_sum<T>(n, [&](I j) { return Wide<T>(dout[r * ld_dout + j]) * out[r * ld_out + j]; });
    good = good && std::fabs(delta[r] - want) <= (2 + std::sqrt(double(n))) * eps<T> * size;
  }
  CAPTURE(n);
  CHECK(good);
}

template <class T>
void check_attention_weights(const kernels::Table<T>& table, const ScoreTile<T>& tile, I offset) {
  Guarded<T> s(tile.x, tile.rows * tile.ld, offset);
  std::vector<T> largest, inverse;
  for (I r = 0; r < tile.rows; ++r) {
    const auto [top, total] = tile.softmax(r);
    largest.push_back(total == 0 ? T(0) : T(top));
    inverse.push_back(total == 0 ? T(0) : T(1 / total));
  }
  table.attention_weights(tile.part(s.data(), 0, tile.keys), largest.data(), inverse.data());
  bool good = tile.gaps_untouched(s);
  for (I r = 0; r < tile.rows; ++r)
    for (I j = 0; j < tile.keys; ++j) {
      const auto k = static_cast<std::size_t>(r);
      const bool seen = j < tile.seen_by(r) && inverse[k] > 0;
      const Wide<T> difference = seen ? tile.at(r, j) - Wide<T>(largest[k]) : 0;
      good =
          good && is_power(s[r * tile.ld + j], seen ? std::exp(difference) * inverse[k] : 0, 2 * difference);
    }
  CAPTURE(tile.keys);
  CHECK(good);
}

/// A row's weight in each of two calls, on a single key of each where its sum would be rounded.
template <class T>
struct Shares {
  T first, second;
  bool single = false, infinite = false;  // infinite: so is dp of the second call's first key
};

/// In two calls, with `split` keys in the first. The rows' weights end in the first call or in the second, by
/// 1 eps more or less than decides, and the second holds a quarter or just less.
template <class T>
void check_attention_score_grad(const kernels::Table<T>& table, const ScoreTile<T>& tile, I split, I offset) {
  constexpr T infinity = std::numeric_limits<T>::infinity(), unit = std::numeric_limits<T>::epsilon();
  constexpr Shares<T> shares[] = {{1, 0},
                                  {0, 1},
                                  {T(0.5), T(0.5)},
                                  {T(0.875), T(0.125)},
                                  {T(0.5), T(0.5), false, true},
                                  {1 - 4 * unit, T(0.5), true},
                                  {1 - 5 * unit, T(0.5), true},
                                  {T(0.75), T(0.25), true},
                                  {T(0.75), T(0.25) - unit / 8, true},
                                  {T(0.875), T(0.125), false, true}};
  const auto rows = static_cast<std::size_t>(tile.rows);
  const auto share_of = [&](I r) {
    return shares[static_cast<std::size_t>(r + tile.keys) % std::size(shares)];
  };
  std::vector<T> p(static_cast<std::size_t>(tile.rows * tile.ld)), estimate = normal_values<T>(tile.rows, 7),
                                                                   weight(rows, 0), rest(rows, 0);
  std::vector<T> values = tile.x;
  for (T& x : values) x = std::isinf(x) ? T(1) : x;
  for (I r = 0; r < tile.rows; ++r) {
    const I n = tile.seen_by(r), middle = std::min(split, n);
    const Shares<T> share = share_of(r);
    for (I j = 0; j < n; ++j) {
      const I keys = j < split ? middle : n - middle, from = j < split ? j : j - split;
      // Equal weights of as many keys as is a power of 2: sums of few bits are exact.
      const I count = share.single ? 1 : static_cast<I>(std::bit_floor(static_cast<std::uint64_t>(keys)));
      p[static_cast<std::size_t>(r * tile.ld + j)] =
          from < count ? (j < split ? share.first : share.second) / static_cast<T>(count) : T(0);
    }
    if (share.infinite && n > split) values[static_cast<std::size_t>(r * tile.ld + split)] = infinity;
    for (I j = n; j < tile.keys; ++j)  // such as dp of a value that is padding
      values[static_cast<std::size_t>(r * tile.ld + j)] = infinity;
  }
  Guarded<T> dp(values, tile.rows * tile.ld, offset);
  table.attention_score_grad(tile.part(dp.data(), 0, split), p.data(), false, estimate.data(), weight.data(),
                             rest.data());
  table.attention_score_grad(tile.part(dp.data(), split, tile.keys - split), p.data() + split, true,
                             estimate.data(), weight.data(), rest.data());
  bool good = dp.intact();
  for (I r = 0; r < tile.rows; ++r) {
    const auto k = static_cast<std::size_t>(r);
    const auto sum_over = [&](I begin, I end, const auto& f) {
      return exact_sum<T>(std::max<I>(0, end - begin), [&](I j) {
        const auto at = static_cast<std::size_t>(r * tile.ld + begin + j);
        return Wide<T>(p[at]) * f(at);
      });
    };
    const I n = tile.seen_by(r), middle = std::min(split, n);
    const Wide<T> near = estimate[k];
    const auto weight_of = [&](I begin, I end) { return sum_over(begin, end, [](auto) { return 1; }).first; };
    const auto rest_of = [&](I begin, I end) {
      return sum_over(begin, end, [&](auto at) { return values[at] - near; });
    };
    const Wide<T> first = weight_of(0, middle), second = weight_of(middle, n), all = 1 - 4 * eps<T>;
    const auto [before, size1] = rest_of(0, middle);
    const auto [after, size2] = rest_of(middle, n);
    const bool ends = first >= all, corrects = second >= 0.25;
    const Wide<T> left = ends ? after : before + after;  // of the rest, after the second call
    const Wide<T> delta1 = ends ? near + before / first : near,
                  delta2 = corrects ? near + left / second : near;
    const Wide<T> slack = 64 * eps<T> * (size1 + (std::isinf(size2) ? 0 : size2) + 4);
    const auto is = [](T got, Wide<T> want, Wide<T> error) {
      return std::isnan(want)   ? std::isnan(got)
             : std::isinf(want) ? got == want
                                : std::fabs(got - want) <= error;
    };
    good = good && is(weight[k], first + second, eps<T>) && is(rest[k], corrects ? 0 : left, slack);
    if (corrects) good = good && rest[k] == 0;
    for (I j = 0; j < tile.ld; ++j) {
      const auto at = static_cast<std::size_t>(r * tile.ld + j);
      const T got = dp[r * tile.ld + j];
      if (j >= tile.keys)
        good = good && got == values[at];  // between the rows
      else if (j >= n)
        good = good && got == 0;
      else
        good = good && is(got, Wide<T>(p[at]) * (values[at] - (j < split ? delta1 : delta2)), p[at] * slack);
    }
  }
  CAPTURE(tile.keys);
  CAPTURE(split);
  CHECK(good);
}

}  // namespace gradus::test
