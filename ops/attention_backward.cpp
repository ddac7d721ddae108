// Attention's backward pass. For one tile of query rows of one head, with P the weights computed again from
// the scores and the saved log-sum-exp, and P' = P after dropout:
//   dV += P'^T dO
//   dP  = dO V^T, dropped like P'
//   dS  = P (dP - sum_j dP_j P_j)         softmax's backward; a row that sees no key has P = 0, and so dS = 0
//   dQ  = scale dS K,   dK += scale dS^T Q
// The tiles of a head add to its dK and dV in a fixed order. When there are fewer heads than threads may
// want, the tiles of a head are dealt to a few groups with a sum each; how many depends on the shapes alone.

#include "gradus/core/dispatch.h"
#include "gradus/core/parallel.h"
#include "gradus/ops/attention_kernel.h"
#include "gradus/ops/attention_scores.h"
#include "gradus/ops/eager.h"

namespace gradus::attention {

namespace {

constexpr I kUnits = 8;  // pieces of work wanted

template <class T>
class Backward {
 public:
  /// dk and dv have the sums of one group after the other on their first axis.
  Backward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& log_sum,
           const Array& dout, const Gradients& grads, I groups)
      : rule_(rule),
        scores_(rule, q, k),
        q_(q),
        k_(k),
        v_(v),
        dout_(dout),
        dq_(grads.dq),
        dk_(grads.dk),
        dv_(grads.dv),
        dscores_(grads.dscores),
        log_sum_(log_sum.data<T>()),
        heads_(q.size(0) * q.size(1)),
        queries_(q.size(2)),
        keys_(k.size(2)),
        channels_(q.size(3)),
        width_(v.size(3)),
        groups_(groups) {}

  /// Every groups-th tile of a head. The first one done reaches furthest to the right, so it may overwrite dk
  /// and dv where those after it add to them.
  void run(I head, I group) const {
    const I sums = group * heads_ + head;
    I reached = 0;
    for (I t = group + (scores_.cut().tiles - 1 - group) / groups_ * groups_; t >= 0; t -= groups_) {
      const Tile tile = scores_.tile(head, t);
      run_tile(tile, sums, reached == 0 ? T{0} : T{1});
      reached = std::max(reached, tile.keys);
    }
    for (I j = reached; j < keys_; ++j) {
      if (dk_) std::fill_n(dk_.row(sums, j), channels_, T{0});
      if (dv_) std::fill_n(dv_.row(sums, j), width_, T{0});
    }
  }

 private:
  void run_tile(const Tile& tile, I sums, T beta) const {
    const I n = tile.keys, ld = std::max<I>(1, n), size = tile.rows * n;
    const bool drops = rule_.dropout > 0;
    const Array scratch = Array::empty({drops ? 3 : 2, size}, dtype_of<T>);
    T* const p = scratch.mutable_data<T>();
    T* const dp = p + size;
    T* const dropped = drops ? dp + size : p;

    scores_.compute(tile, p, ld);
    for (I r = 0; r < tile.rows; ++r) weigh_row(tile, r, p + r * ld, dropped + r * ld);
    if (dv_)
      kernels::multiply<T>({.m = n,
                            .n = width_,
                            .k = tile.rows,
                            .a = {dropped, ld, true},
                            .b = dout_.from(tile.head, tile.begin),
                            .c = dv_.row(sums, 0),
                            .ldc = dv_.ld(),
                            .beta = beta});
    if (!dq_ && !dk_ && !dscores_) return;

    kernels::multiply<T>({.m = tile.rows,
                          .n = n,
                          .k = width_,
                          .a = dout_.from(tile.head, tile.begin),
                          .b = v_.transposed(tile.head),
                          .c = dp,
                          .ldc = ld});
    for (I r = 0; r < tile.rows; ++r) score_grad_row(tile, r, p + r * ld, dp + r * ld);
    const T scale = static_cast<T>(rule_.scale);
    if (dq_)
      kernels::multiply<T>({.m = tile.rows,
                            .n = channels_,
                            .k = n,
                            .a = {dp, ld},
                            .b = k_.from(tile.head, 0),
                            .c = dq_.row(tile.head, tile.begin),
                            .ldc = dq_.ld(),
                            .alpha = scale});
    if (dk_)
      kernels::multiply<T>({.m = n,
                            .n = channels_,
                            .k = tile.rows,
                            .a = {dp, ld, true},
                            .b = q_.from(tile.head, tile.begin),
                            .c = dk_.row(sums, 0),
                            .ldc = dk_.ld(),
                            .alpha = scale,
                            .beta = beta});
  }

  /// scores -> weights, and the same after dropout.
  void weigh_row(const Tile& tile, I r, T* p, T* dropped) const {
    const I i = tile.begin + r, seen = scores_.visible(i);
    kernels::table<T>().exp_shift_sum(seen, log_sum_[tile.head * queries_ + i], p, p);
    std::fill(p + seen, p + tile.keys, T{0});
    if (dropped == p) return;
    scores_.drop_row(tile.head, i, seen, p, dropped);
    std::fill(dropped + seen, dropped + tile.keys, T{0});
  }

  /// dp -> gradients of the scores, in place.
  void score_grad_row(const Tile& tile, I r, const T* p, T* dp) const {
    const I i = tile.begin + r, seen = scores_.visible(i);
    if (rule_.dropout > 0) scores_.drop_row(tile.head, i, seen, dp, dp);
    kernels::table<T>().softmax_grad(seen, p, dp, dp);
    std::fill(dp + seen, dp + tile.keys, T{0});
    if (!dscores_) return;
    T* const row = dscores_.row(tile.head, i);
    std::copy_n(dp, seen, row);
    std::fill(row + seen, row + keys_, T{0});
  }

  const Rule& rule_;
  Scores<T> scores_;
  HeadRows<const T> q_, k_, v_, dout_;
  HeadRows<T> dq_, dk_, dv_, dscores_;
  const T* log_sum_;
  I heads_, queries_, keys_, channels_, width_, groups_;
};

/// Memory for the sums of each group: the gradient itself when there is one group.
Array group_sums(const Array& grad, I groups) {
  if (!grad.defined() || groups == 1) return grad;
  Shape shape = grad.shape();
  shape[0] *= groups;
  return Array::empty(shape, grad.dtype());
}

void add_groups(const Array& sums, I groups, const Array& grad) {
  if (!grad.defined() || groups == 1) return;
  Shape shape = grad.shape();
  shape.insert(0, groups);
  grad.copy_(eager::sum(sums.reshape(shape), 0));
}

}  // namespace

void backward(const Rule& rule, const Array& q, const Array& k, const Array& v, const Array& log_sum,
              const Array& dout, const Gradients& grads) {
  count_products(rule, q, k, v, 3, 2);  // scores again, dq, dk; dP, dv
  const I heads = q.size(0) * q.size(1);
  const Cut cut(rule, q.size(2));
  const I groups = heads == 0 ? 1 : std::clamp<I>(kUnits / heads, 1, std::max<I>(1, cut.tiles));
  Gradients sums = grads;
  sums.dk = group_sums(grads.dk, groups);
  sums.dv = group_sums(grads.dv, groups);
  dispatch_floating("attention", q.dtype(), [&]<class T>() {
    const Backward<T> attention(rule, q, k, v, log_sum, dout, sums, groups);
    parallel_for(heads * groups, kChunkWork / (2 * cut.tiles * cut.work(k, v) + 1), [&](I first, I last) {
      for (I i = first; i < last; ++i) attention.run(i / groups, i % groups);
    });
  });
  add_groups(sums.dk, groups, grads.dk);
  add_groups(sums.dv, groups, grads.dv);
}

}  // namespace gradus::attention
