// Attention's forward pass, a tile of query rows of one head at a time, and of the keys its rows can see a
// few hundred at a time, while the tile is in cache:
//   S       = scale Q K^T + mask
//   P       = exp(S - m), l = sum_j P_j      m: the largest score of a row so far; when it grows, what was
//   O      += P' V                           summed before, l and O, is corrected by exp(m before - m)
//   out     = O / l at the end; m and 1 / l are kept for backward
// with P' = P after dropout (Dao et al. 2022). Keys past the causal diagonal or outside the window are never
// touched. Memory is one tile per thread and two values per row.
// kernels/body/attention.h: attention_exp (P, m, l), attention_output (out, 1 / l)

#include "gradus/core/array/detail/element.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/array/scratch.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/attention/attention_scores.h"

namespace gradus::attention {

namespace {

/// y *= factor; a factor of 0 clears even what is not finite.
template <class T>
void scale_row(I n, T factor, T* y) {
  if (factor == 1) return;
  if (factor == 0)
    std::fill_n(y, n, T{0});
  else
    kernels::table<T>().scale(n, factor, y, y);
}

/// The softmax of each row of a tile, as far as it is known: m and l of the formulas above, kept where the
/// caller says.
template <class T>
struct RunningSoftmax {
  RunningSoftmax(I n, T* m, T* l) : rows(n), largest(m), sum(l) {
    std::fill_n(largest, rows, -std::numeric_limits<T>::infinity());
    std::fill_n(sum, rows, T{0});
  }
  /// Scores become weights, too large by the factor `sum` of their row.
  void exponentials(const kernels::ScoreRows<T>& s) {
    kernels::table<T>().attention_exp(s, largest, sum, correction);
  }
  /// Rows of n values, sums over the exponentials, become means over the weights, and l becomes 1 / l.
  void divide(I n, T* out, I ld) const {
    kernels::table<T>().attention_output(rows, n, largest, sum, out, ld);
  }

  I rows;
  T *largest, *sum, correction[kTileRows];
};

template <class T>
class Forward {
 public:
  Forward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& out,
          const Normalizers& normalizers)
      : rule_(rule),
        scores_(rule, q, k),
        v_(v, q.size(1), rule.texts.keys),
        out_(out, q.size(1), rule.texts.queries),
        largest_(normalizers.largest.unsqueeze(3), q.size(1), rule.texts.queries),
        inverse_(normalizers.inverse.unsqueeze(3), q.size(1), rule.texts.queries),
        width_(v.size(3)),
        scratch_(std::min(rule.queries(q), scores_.cut().rows) * block_stride(scores_.cut()), dtype_of<T>) {}

  void run_tile(I head, I index) const {
    const Tile tile = scores_.tile(head, index);
    if (tile.rows <= 0) return;
    const I ld = block_stride(tile.keys);
    const Array scratch = scratch_.take();
    T* const s = scratch.mutable_data<T>();
    RunningSoftmax<T> softmax(tile.rows, largest_.row(head, tile.begin), inverse_.row(head, tile.begin));
    for_each_block(tile, [&](const Block& block) {
      scores_.compute(block, s, ld);
      softmax.exponentials(scores_.rows(block, s, ld));
      if (rule_.dropout > 0) scores_.drop(block, s, s, ld);
      if (!block.starts)
        for (I r = 0; r < tile.rows; ++r)
          scale_row(width_, softmax.correction[r], out_.row(head, tile.begin + r));
      add_values(block, s, ld);
    });
    // Dividing the short rows of the output is cheaper than dividing the weights.
    softmax.divide(width_, out_.row(head, tile.begin), out_.ld());
  }

 private:
  /// out (+)= weights v
  void add_values(const Block& block, const T* weights, I ld) const {
    kernels::multiply<T>({.m = block.rows,
                          .n = width_,
                          .k = block.keys,
                          .a = {weights, ld},
                          .b = v_.from(block.head, block.first),
                          .c = out_.row(block.head, block.begin),
                          .ldc = out_.ld(),
                          .beta = block.starts ? T{0} : T{1},
                          .bf16 = rule_.bf16});
  }

  const Rule& rule_;
  Scores<T> scores_;
  HeadRows<const T> v_;
  HeadRows<T> out_, largest_, inverse_;
  I width_;
  Scratch scratch_;
};

}  // namespace

Array with_rows(const Array& x) {
  const Strides& strides = x.strides();
  const bool contiguous = x.size(3) <= 1 || strides[3] == 1;
  const bool apart = x.size(2) <= 1 || strides[2] >= x.size(3);
  return contiguous && apart ? x : x.clone();
}

void forward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& out,
             const Normalizers& normalizers) {
  count_products(rule, q, k, v, 1, 1);
  const I heads = rule.batch(q) * q.size(1);
  const Cut cut(rule, rule.queries(q), rule.keys(k));
  dispatch_floating("attention", q, [&]<class T>() {
    const Forward<T> attention(rule, q, k, v, out, normalizers);
    const I work = cut.work(k, v);
    const auto run = [&](I first, I last) {
      for (I i = first; i < last; ++i) attention.run_tile(i / cut.tiles, i % cut.tiles);
    };
    parallel_for(heads * cut.tiles, kChunkWork / work, run, cut.wake(heads, work));
  });
}

Array weights(const Rule& rule, const Array& q, const Array& k) {
  const I queries = q.size(2), keys = k.size(2), heads = q.size(0) * q.size(1);
  const Cut cut(rule, queries, keys);
  Array p = Array::empty({q.size(0), q.size(1), queries, keys}, q.dtype());
  dispatch_floating("attention_weights", q, [&]<class T>() {
    const Scores<T> scores(rule, q, k);
    const HeadRows<T> rows(p, q.size(1));
    const I work = cut.work(k, k);
    const auto run = [&](I first, I last) {
      for (I t = first; t < last; ++t) {
        const Tile tile = scores.tile(t / cut.tiles, t % cut.tiles);
        const I ld = std::max<I>(1, keys);
        const Block all{tile.head, tile.begin, tile.rows, 0, keys, true};
        T* const s = rows.row(tile.head, tile.begin);
        scores.compute(all, s, ld);
        T largest[kTileRows], sum[kTileRows];
        RunningSoftmax<T> softmax(tile.rows, largest, sum);
        softmax.exponentials(scores.rows(all, s, ld));
        softmax.divide(keys, s, ld);
      }
    };
    parallel_for(heads * cut.tiles, kChunkWork / work, run, cut.wake(heads, work));
  });
  return p;
}

}  // namespace gradus::attention
