// Attention's forward pass, a tile of query rows of one head at a time: the scores of the tile against all
// keys its rows can see, their exponentials, and the product with the values, while the tile is in cache.
// Keys past the causal diagonal are never touched. Memory is one tile per thread and one number per row.

#include "gradus/core/dispatch.h"
#include "gradus/core/parallel.h"
#include "gradus/ops/attention_kernel.h"
#include "gradus/ops/attention_scores.h"

namespace gradus::attention {

namespace {

/// What softmax needs to know of a row; both numbers are -inf and 0 where the row sees no key.
template <class T>
struct RowSum {
  T largest, sum;
  bool sees_nothing() const { return sum == 0; }
};

/// Turns the scores of a row that sees `seen` of `keys` keys into exponentials, zeros for the rest.
template <class T>
RowSum<T> exponentials(I seen, I keys, T* s) {
  const auto& kernels = kernels::table<T>();
  RowSum<T> row{-std::numeric_limits<T>::infinity(), 0};
  if (seen > 0) row.largest = kernels.max(seen, s);
  row.sum = kernels.exp_shift_sum(seen, row.largest, s, s);  // zeros when every score is -inf
  std::fill(s + seen, s + keys, T{0});
  return row;
}

/// y *= factor; a factor of 0 clears even what is not finite.
template <class T>
void scale_row(I n, T factor, T* y) {
  if (factor == 0)
    std::fill_n(y, n, T{0});
  else
    kernels::table<T>().scale(n, factor, y, y);
}

template <class T>
class Forward {
 public:
  Forward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& out,
          const Array& log_sum)
      : rule_(rule),
        scores_(rule, q, k),
        v_(v),
        out_(out),
        log_sum_(log_sum.mutable_data<T>()),
        queries_(q.size(2)),
        width_(v.size(3)) {}

  void run_tile(I head, I index) const {
    const Tile tile = scores_.tile(head, index);
    const Array scratch = Array::empty({tile.rows, tile.keys}, dtype_of<T>);
    T* const s = scratch.mutable_data<T>();
    const I ld = std::max<I>(1, tile.keys);
    scores_.compute(tile, s, ld);
    T inverse[kTileRows];
    for (I r = 0; r < tile.rows; ++r) inverse[r] = weigh_row(tile, r, s + r * ld);
    kernels::multiply<T>({.m = tile.rows,
                          .n = width_,
                          .k = tile.keys,
                          .a = {s, ld},
                          .b = v_.from(head, 0),
                          .c = out_.row(head, tile.begin),
                          .ldc = out_.ld()});
    // Dividing the short rows of the output is cheaper than dividing the weights.
    for (I r = 0; r < tile.rows; ++r) scale_row(width_, inverse[r], out_.row(head, tile.begin + r));
  }

 private:
  /// Makes weights of a row of scores, all too large by one factor: returns its inverse.
  T weigh_row(const Tile& tile, I r, T* s) const {
    const I i = tile.begin + r, seen = scores_.visible(i);
    const RowSum<T> row = exponentials(seen, tile.keys, s);
    T& log_sum = log_sum_[tile.head * queries_ + i];
    log_sum = row.sees_nothing() ? std::numeric_limits<T>::infinity() : row.largest + std::log(row.sum);
    if (rule_.dropout > 0) scores_.drop_row(tile.head, i, seen, s, s);
    return row.sees_nothing() ? 0 : 1 / row.sum;
  }

  const Rule& rule_;
  Scores<T> scores_;
  HeadRows<const T> v_;
  HeadRows<T> out_;
  T* log_sum_;
  I queries_, width_;
};

}  // namespace

Array with_rows(const Array& x) {
  const Strides& strides = x.strides();
  const bool contiguous = x.size(3) <= 1 || strides[3] == 1;
  const bool apart = x.size(2) <= 1 || strides[2] >= x.size(3);
  return contiguous && apart ? x : x.clone();
}

void forward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& out,
             const Array& log_sum) {
  count_products(rule, q, k, v, 1, 1);
  const I heads = q.size(0) * q.size(1);
  const Cut cut(rule, q.size(2));
  dispatch_floating("attention", q.dtype(), [&]<class T>() {
    const Forward<T> attention(rule, q, k, v, out, log_sum);
    parallel_for(heads * cut.tiles, kChunkWork / cut.work(k, v), [&](I first, I last) {
      for (I i = first; i < last; ++i) attention.run_tile(i / cut.tiles, i % cut.tiles);
    });
  });
}

Array weights(const Rule& rule, const Array& q, const Array& k) {
  const I queries = q.size(2), keys = k.size(2), heads = q.size(0) * q.size(1);
  const Cut cut(rule, queries);
  Array p = Array::empty({q.size(0), q.size(1), queries, keys}, q.dtype());
  dispatch_floating("attention_weights", q.dtype(), [&]<class T>() {
    const Scores<T> scores(rule, q, k);
    const HeadRows<T> rows(p);
    parallel_for(heads * cut.tiles, kChunkWork / cut.work(k, k), [&](I first, I last) {
      for (I t = first; t < last; ++t) {
        const Tile tile = scores.tile(t / cut.tiles, t % cut.tiles);
        scores.compute(tile, rows.row(tile.head, tile.begin), std::max<I>(1, keys));
        for (I i = tile.begin; i < tile.begin + tile.rows; ++i) {
          T* const row = rows.row(tile.head, i);
          const RowSum<T> sum = exponentials(scores.visible(i), keys, row);
          scale_row(keys, sum.sees_nothing() ? 0 : 1 / sum.sum, row);
        }
      }
    });
  });
  return p;
}

}  // namespace gradus::attention
