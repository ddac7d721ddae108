// Attention's backward pass. For one tile of query rows of one head, with P the weights computed again from
// the scores and each row's saved m and 1 / l, and P' = P after dropout:
//   P   = exp(S - m) / l                  S has the bits it had in forward, so its maximum is still m
//   dV += P'^T dO
//   dP  = dO V^T, dropped like P'
//   dS  = P (dP - delta)                  softmax's backward; a row that sees no key has P = 0, and so dS = 0
//   delta = sum_j P_j dP_j
//   dQ  = scale dS K,   dK += scale dS^T Q
// dS adds up to 0 over a row. An error of eps in delta would leave a rest, which is multiplied by K, and with
// scores near 1 / eps is as large as the gradient: delta is therefore summed from the same P and dP. A tile
// of more than 512 keys is processed in several blocks, and the first ones need delta before the last dP is
// known. They use the sum of dO O over the channels, which equals delta but for rounding (O = P' V, and
// dropping P or dP is the same in it). With products in bf16, where dP has rounded operands and dO O has not,
// that would be too far away: there a first pass over the blocks sums delta. The block in which a row's
// weight ends is corrected so that dS adds up to 0 over the row, if it holds a quarter of the weight or more;
// blocks are of equal size so that a row of nearly equal scores in up to four blocks does so. Else the key
// with the largest weight is corrected at the end, if it holds a quarter or more, as the first key of a text
// often does: its weight is 1 / l. A row with a single weight of 1 has dS of 0: exactly with one block, where
// no estimate is used; with several, up to the rounding of dP - estimate.
// kernels/body/attention.h: attention_weights (P), attention_delta (dO O), attention_score_grad (delta, dS)
// The tiles of a head add to its dK and dV in a fixed order. When there are fewer heads than threads may
// want, the tiles of a head are dealt to a few groups with a sum each; how many depends on the shapes alone.

#include "gradus/core/array/detail/element.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/scratch.h"
#include "gradus/ops/attention/attention_kernel.h"
#include "gradus/ops/attention/attention_scores.h"

namespace gradus::attention {

namespace {

constexpr I kUnits = 8;  // pieces of work wanted
constexpr I kNone = -1;  // no key

template <class T>
class Backward {
 public:
  /// dk and dv have the sums of one group after the other on their first axis.
  Backward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Normalizers& normalizers,
           const Array& out, const Array& dout, const Gradients& grads, I groups)
      : rule_(rule),
        scores_(rule, q, k),
        q_(q, q.size(1), rule.texts.queries),
        k_(k, q.size(1), rule.texts.keys),
        v_(v, q.size(1), rule.texts.keys),
        out_(out, q.size(1), rule.texts.queries),
        dout_(dout, q.size(1), rule.texts.queries),
        dq_(grads.dq, q.size(1), rule.texts.queries),
        dk_(grads.dk, q.size(1), rule.texts.keys),
        dv_(grads.dv, q.size(1), rule.texts.keys),
        dscores_(grads.dscores, q.size(1)),
        largest_(normalizers.largest.unsqueeze(3), q.size(1), rule.texts.queries),
        inverse_(normalizers.inverse.unsqueeze(3), q.size(1), rule.texts.queries),
        heads_(rule.batch(q) * q.size(1)),
        channels_(q.size(3)),
        width_(v.size(3)),
        groups_(groups),
        scratch_((rule.dropout > 0 ? 3 : 2) * std::min(rule.queries(q), scores_.cut().rows) *
                     block_stride(scores_.cut()),
                 dtype_of<T>) {}

  /// Every groups-th tile of a head. The first one done reaches furthest to the right, so it may overwrite dk
  /// and dv where those after it add to them; with a window, each begins elsewhere.
  void run(I head, I group) const {
    const I sums = group * heads_ + head;
    const bool adds = rule_.window > 0;
    I reached = 0;
    if (adds) clear(sums, scores_.keys(head), 0);
    for (I t = group + (scores_.cut().tiles - 1 - group) / groups_ * groups_; t >= 0; t -= groups_) {
      const Tile tile = scores_.tile(head, t);
      if (tile.rows <= 0) continue;
      run_tile(tile, sums, reached == 0 && !adds ? T{0} : T{1});
      reached = std::max(reached, tile.first + tile.keys);
    }
    if (!adds) clear(sums, scores_.keys(head), reached);
  }

 private:
  /// dk and dv of keys first .. end - 1.
  void clear(I sums, I end, I first) const {
    for (I j = first; j < end; ++j) {
      if (dk_) std::fill_n(dk_.row(sums, j), channels_, T{0});
      if (dv_) std::fill_n(dv_.row(sums, j), width_, T{0});
    }
  }

  /// `sums` is where the tile's group keeps dk and dv of its head.
  void run_tile(const Tile& tile, I sums, T beta) const {
    const I ld = block_stride(tile.keys);
    const bool drops = rule_.dropout > 0;
    const Array scratch = scratch_.take();
    T* const p = scratch.mutable_data<T>();
    T* const dp = p + tile.rows * ld;
    T* const dropped = drops ? dp + tile.rows * ld : p;
    T estimate[kTileRows] = {}, weight[kTileRows] = {}, rest[kTileRows] = {};
    I heaviest[kTileRows];
    std::fill_n(heaviest, kTileRows, kNone);
    const bool estimates = tile.keys > kTileKeys;
    if (estimates && (dq_ || dk_ || dscores_)) {
      if (rule_.bf16)
        sum_delta(tile, p, dp, ld, estimate);
      else
        kernels::table<T>().attention_delta(tile.rows, width_, dout_.row(tile.head, tile.begin), dout_.ld(),
                                            out_.row(tile.head, tile.begin), out_.ld(), estimate);
    }
    for_each_block(tile, [&](const Block& block) {
      compute_p(block, p, ld);
      if (drops) scores_.drop(block, p, dropped, ld);
      if (dv_) add_dv(block, dropped, ld, sums, beta);
      if (!dq_ && !dk_ && !dscores_) return;
      compute_dp(block, dp, ld);
      if (estimates) find_heaviest(block, p, ld, heaviest);
      const bool last = block.first + block.keys == tile.first + tile.keys;
      kernels::table<T>().attention_score_grad(scores_.rows(block, dp, ld), p, last, estimate, weight, rest);
      if (dscores_) copy_dscores(block, dp, ld);
      if (dq_) add_dq(block, dp, ld);
      if (dk_) add_dk(block, dp, ld, sums, beta);
    });
    if (estimates) correct_heaviest(tile, heaviest, rest, sums);
    if (!dscores_) return;
    const I end = tile.first + tile.keys;
    for (I r = 0; r < tile.rows; ++r) {
      T* const row = dscores_.row(tile.head, tile.begin + r);
      std::fill_n(row, tile.first, T{0});
      std::fill_n(row + end, scores_.keys(tile.head) - end, T{0});
    }
  }

  /// delta of the tile's rows, from the same P and dP as dS.
  void sum_delta(const Tile& tile, T* p, T* dp, I ld, T* delta) const {
    constexpr T zeros[kTileRows] = {};
    T weight[kTileRows];
    std::fill_n(weight, kTileRows, T{-2});  // never all of it: nothing is corrected
    for_each_block(tile, [&](const Block& block) {
      compute_p(block, p, ld);
      compute_dp(block, dp, ld);
      kernels::table<T>().attention_score_grad(scores_.rows(block, dp, ld), p, false, zeros, weight, delta);
    });
  }

  void compute_p(const Block& block, T* p, I ld) const {
    scores_.compute(block, p, ld);
    kernels::table<T>().attention_weights(scores_.rows(block, p, ld), largest_.row(block.head, block.begin),
                                          inverse_.row(block.head, block.begin));
  }
  void add_dv(const Block& block, const T* p, I ld, I sums, T beta) const {
    kernels::multiply<T>({.m = block.keys,
                          .n = width_,
                          .k = block.rows,
                          .a = {p, ld, true},
                          .b = dout_.from(block.head, block.begin),
                          .c = dv_.row(sums, block.first),
                          .ldc = dv_.ld(),
                          .beta = beta,
                          .bf16 = rule_.bf16});
  }
  void compute_dp(const Block& block, T* dp, I ld) const {
    kernels::multiply<T>({.m = block.rows,
                          .n = block.keys,
                          .k = width_,
                          .a = dout_.from(block.head, block.begin),
                          .b = v_.transposed(block.head, block.first),
                          .c = dp,
                          .ldc = ld,
                          .bf16 = rule_.bf16});
    if (rule_.dropout > 0) scores_.drop(block, dp, dp, ld);
  }
  void add_dq(const Block& block, const T* ds, I ld) const {
    kernels::multiply<T>({.m = block.rows,
                          .n = channels_,
                          .k = block.keys,
                          .a = {ds, ld},
                          .b = k_.from(block.head, block.first),
                          .c = dq_.row(block.head, block.begin),
                          .ldc = dq_.ld(),
                          .alpha = static_cast<T>(rule_.scale),
                          .beta = block.starts ? T{0} : T{1},
                          .bf16 = rule_.bf16});
  }
  void add_dk(const Block& block, const T* ds, I ld, I sums, T beta) const {
    kernels::multiply<T>({.m = block.keys,
                          .n = channels_,
                          .k = block.rows,
                          .a = {ds, ld, true},
                          .b = q_.from(block.head, block.begin),
                          .c = dk_.row(sums, block.first),
                          .ldc = dk_.ld(),
                          .alpha = static_cast<T>(rule_.scale),
                          .beta = beta,
                          .bf16 = rule_.bf16});
  }
  /// Each row's key with the largest weight, exp(m - m) / l, if the block has it and it is a quarter or more.
  void find_heaviest(const Block& block, const T* p, I ld, I* heaviest) const {
    for (I r = 0; r < block.rows; ++r) {
      const T most = *inverse_.row(block.head, block.begin + r);
      if (most < T{0.25} || heaviest[r] != kNone) continue;
      const T *const row = p + r * ld, *const end = row + block.keys;
      const T* const found = std::find(row, end, most);
      if (found != end) heaviest[r] = block.first + (found - row);
    }
  }
  /// Subtracts what the dS of a row add up to from that of its heaviest key.
  void correct_heaviest(const Tile& tile, const I* heaviest, const T* rest, I sums) const {
    const auto subtract = [this](T factor, const T* x, T* y) {
      for (I c = 0; c < channels_; ++c) y[c] -= factor * x[c];
    };
    for (I r = 0; r < tile.rows; ++r) {
      if (heaviest[r] == kNone || rest[r] == 0) continue;
      const I i = tile.begin + r, j = heaviest[r];
      const T factor = static_cast<T>(rule_.scale) * rest[r];
      if (dscores_) dscores_.row(tile.head, i)[j] -= rest[r];
      if (dq_) subtract(factor, k_.row(tile.head, j), dq_.row(tile.head, i));
      if (dk_) subtract(factor, q_.row(tile.head, i), dk_.row(sums, j));
    }
  }
  void copy_dscores(const Block& block, const T* ds, I ld) const {
    for (I r = 0; r < block.rows; ++r)
      std::copy_n(ds + r * ld, block.keys, dscores_.row(block.head, block.begin + r) + block.first);
  }

  const Rule& rule_;
  Scores<T> scores_;
  HeadRows<const T> q_, k_, v_, out_, dout_;
  HeadRows<T> dq_, dk_, dv_, dscores_;
  HeadRows<const T> largest_, inverse_;
  I heads_, channels_, width_, groups_;
  Scratch scratch_;
};

/// Memory for the sums of each group and each head of queries: the gradient itself when these are one.
Array partial_sums(const Array& grad, I groups, I sharing) {
  if (!grad.defined() || groups * sharing == 1) return grad;
  Shape shape = grad.shape();
  shape[0] *= groups;
  shape[1] *= sharing;
  return Array::empty(shape, grad.dtype());
}

void add_partial_sums(const Array& sums, I groups, I sharing, const Array& grad) {
  if (!grad.defined() || groups * sharing == 1) return;
  Shape shape = grad.shape();
  shape.insert(2, sharing);
  shape.insert(0, groups);
  grad.copy_(array::sum(sums.reshape(shape), {0, 3}));
}

}  // namespace

void backward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& out,
              const Normalizers& normalizers, const Array& dout, const Gradients& grads) {
  count_products(rule, q, k, v, 3, 2);  // scores again, dq, dk; dP, dv
  const I heads = rule.batch(q) * q.size(1);
  const Cut cut(rule, rule.queries(q), rule.keys(k));
  const I sharing = k.size(1) == 0 ? 1 : q.size(1) / k.size(1);
  const I groups =
      heads == 0 || rule.texts.keys ? 1 : std::clamp<I>(kUnits / heads, 1, std::max<I>(1, cut.tiles));
  Gradients sums = grads;
  sums.dk = partial_sums(grads.dk, groups, sharing);
  sums.dv = partial_sums(grads.dv, groups, sharing);
  dispatch_floating("attention", q, [&]<class T>() {
    const Backward<T> attention(rule, q, k, v, normalizers, out, dout, sums, groups);
    const I work = cut.work(k, v);
    const auto run = [&](I first, I last) {
      for (I i = first; i < last; ++i) attention.run(i / groups, i % groups);
    };
    parallel_for(heads * groups, kChunkWork / (2 * cut.tiles * work + 1), run, cut.wake(heads, work));
  });
  add_partial_sums(sums.dk, groups, sharing, grads.dk);
  add_partial_sums(sums.dv, groups, sharing, grads.dv);
}

}  // namespace gradus::attention
