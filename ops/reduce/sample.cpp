// multinomial: drawing indices with given weights w_i >= 0 (they need not add up to 1).
//
//   with replacement     the first i with w_0 + ... + w_i > u (w_0 + ... + w_{C-1}),  u uniform in [0, 1)
//   without replacement  the `count` smallest of e_i / w_i,  e_i exponential with mean 1
//                        (Efraimidis & Spirakis 2006: the same law as drawing one after another)
//
// No gradient. Number n of a call uses Philox block n of the generator's stream and nothing else, so draws do
// not depend on the number of threads.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

/// Uniform in [0, 1) with 53 bits: number n after `state`.
double uniform_number(const Generator::State& state, I n) {
  const auto words = philox(state.seed, state.offset + static_cast<std::uint64_t>(n), state.stream);
  const std::uint64_t bits = (std::uint64_t{words[1]} << 32 | words[0]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

void draw_with_replacement(const std::vector<double>& w, I count, const Generator::State& state, I first,
                           I* out) {
  std::vector<double> sums(w.size());
  std::partial_sum(w.begin(), w.end(), sums.begin());
  for (I k = 0; k < count; ++k) {
    // u * total < total also after rounding, so there is such an index, and its weight is positive.
    const double mark = uniform_number(state, first + k) * sums.back();
    out[k] = std::upper_bound(sums.begin(), sums.end(), mark) - sums.begin();
  }
}

void draw_without_replacement(const std::vector<double>& w, I count, const Generator::State& state, I first,
                              I* out) {
  std::vector<std::pair<double, I>> keys;
  for (std::size_t i = 0; i < w.size(); ++i)
    if (w[i] > 0) {
      const double e = -std::log1p(-uniform_number(state, first + static_cast<I>(i)));
      keys.emplace_back(e / w[i], static_cast<I>(i));
    }
  std::partial_sort(keys.begin(), keys.begin() + count, keys.end());
  for (I k = 0; k < count; ++k) out[k] = keys[static_cast<std::size_t>(k)].second;
}

/// One row, divided by its largest weight so sums cannot overflow; throws unless it can be sampled.
std::vector<double> checked_row(const double* row, I classes, I row_number, I distinct) {
  double largest = 0;
  I positive = 0;
  for (I i = 0; i < classes; ++i) {
    check(row[i] >= 0 && std::isfinite(row[i]),
          "multinomial: expects finite weights of 0 or more, got {} at index {} of row {}", row[i], i,
          row_number);
    largest = std::max(largest, row[i]);
    positive += row[i] > 0;
  }
  check(positive > 0, "multinomial: all weights of row {} are 0", row_number);
  check(positive >= distinct,
        "multinomial: cannot draw {} different indices from row {}, which has {} weights above 0: draw with "
        "replacement or fewer",
        distinct, row_number, positive);
  std::vector<double> scaled(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] = row[i] / largest;
  return scaled;
}

}  // namespace

Tensor multinomial(const Tensor& weights, Int wanted, Flag replacement, Generator& generator) {
  const I count = wanted;
  const Array& given = floating_operand("multinomial", weights, "weights");
  check((given.dim() == 1 || given.dim() == 2) && given.size(-1) > 0,
        "multinomial: expects weights [C] or [B, C] with C > 0, got {}", given.shape());
  check(count >= 1, "multinomial: expects a count of 1 or more, got {}", count);
  const I classes = given.size(-1), rows = given.numel() / classes;
  Shape shape = given.shape();
  shape[shape.size() - 1] = count;
  const Array y = Array::empty(shape, i64);

  const Array dense = given.to(f64).contiguous();
  std::vector<std::vector<double>> w;
  for (I row = 0; row < rows; ++row)
    w.push_back(checked_row(dense.data<double>() + row * classes, classes, row, replacement ? 0 : count));

  const I numbers = replacement ? count : classes;  // a row uses
  const Generator::State state = generator.reserve(static_cast<std::uint64_t>(rows * numbers));
  I* const out = y.mutable_data<I>();
  const auto draw = replacement ? draw_with_replacement : draw_without_replacement;
  parallel_rows(rows, 8 * classes, [&](I begin, I end) {
    for (I row = begin; row < end; ++row)
      draw(w[static_cast<std::size_t>(row)], count, state, row * numbers, out + row * count);
  });
  return record("multinomial", y, {&weights});
}

Tensor multinomial(const Tensor& weights, Int count, Flag replacement) {
  return multinomial(weights, count, replacement, default_generator());
}

}  // namespace gradus
