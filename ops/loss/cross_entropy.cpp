// cross_entropy and nll_loss.              x, dx: [..., V]   target: [...]   loss: [...], reduced to []
// One row x of logits with target t and label smoothing e (Szegedy et al. 2016), m = max_j x_j:
//   loss = (1 - e) (m - x_t) + e mean_j(m - x_j) + log sum_j exp(x_j - m)
//        = (1 - e) (l - x_t) + e (l - mean(x))       for l = log sum_j exp(x_j)
//   dx_j = g (softmax(x)_j - (1 - e) [j = t] - e / V)
// with class weights w, where c_j = (1 - e) w_t [j = t] + e w_j / V takes the place of the shares of classes:
//   loss = sum_j c_j (l - x_j),   dx_j = g (softmax(x)_j sum_k c_k - c_j)
// and with a target of probabilities p [..., V], where c_j = w_j ((1 - e) p_j + e / V): soft_cross_entropy,
// made of other ops.
//   saves x and m: the softmax is never stored, it becomes dx in place
//   cross_entropy_rows.h: row_loss, row_grad
// nll_loss, one row of log-probabilities:
//   loss = -x_t,   dx_t = -g             with weights -w_t x_t and -g w_t: c_j for e = 0
//
// g is the gradient of a row's loss: that of the result, divided by the number of rows that count for a mean.
// With class weights the mean divides by the sum of w_t over these rows; nll_loss multiplies by w_t.
// An ignored row has loss 0 and gradient 0 whatever its logits hold; when all are ignored the mean is 0.

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/rows.h"
#include "gradus/ops/array/scratch.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/loss/cross_entropy_checks.h"
#include "gradus/ops/loss/cross_entropy_rows.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

/// losses and largest logits, one per row, from x [..., V], contiguous.
void forward(const Array& x, const Targets& targets, const Array& losses, const Array& largest) {
  const Rows rows(x.shape());
  dispatch_floating("cross_entropy", x, [&]<class T>() {
    const RowPointers<const T> px(x);
    T *const loss = losses.mutable_data<T>(), *const m = largest.mutable_data<T>();
    const Scratch scratch(rows.columns, x.dtype());
    parallel_rows(rows.count, rows.columns, [&](I begin, I end) {
      const Array powers = scratch.take();
      for (I i = begin; i < end; ++i) {
        m[i] = loss[i] = 0;
        if (targets.ignored(i)) continue;
        m[i] = kernels::table<T>().max(rows.columns, px[i]);
        T total;
        loss[i] = row_loss(targets.row<T>(i), rows.columns, px[i], m[i], powers.mutable_data<T>(), total);
      }
    });
  });
}

Array backward(const Array& g, const Array& x, const Targets& targets, const Array& largest) {
  const Rows rows(x.shape());
  const Array dx = Array::empty(x.shape(), x.dtype());
  dispatch_floating("cross_entropy", x, [&]<class T>() {
    const RowPointers<const T> px(x);
    const RowPointers<T> pdx(dx);
    const T *const pg = g.data<T>(), *const m = largest.data<T>();
    rows.for_each([&](I i) {
      if (targets.ignored(i)) {
        std::fill_n(pdx[i], rows.columns, T{0});
        return;
      }
      const T total = kernels::table<T>().exp_shift_sum(rows.columns, m[i], px[i], pdx[i]);
      row_grad(targets.row<T>(i), rows.columns, total, pg[i], pdx[i]);
    });
  });
  return dx;
}

/// For a target of probabilities. A masked class, whose logit is -inf, costs nothing where p is 0.
Tensor soft_cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options) {
  const char* const op = "cross_entropy";
  check_same_dtype(op, logits.array(), target.array(), "logits and target");
  check_options(op, logits.shape(), logits.dtype(), options);
  check(!options.ignore_index || *options.ignore_index < 0,
        "{}: no row of a target of probabilities can be ignored by number, got ignore_index {}: take these "
        "rows out, or make their probabilities 0",
        op, options.ignore_index.value_or(0));
  const Rows rows(logits.shape());
  const double e = options.label_smoothing;
  Tensor share = e > 0 ? target * (1 - e) + e / static_cast<double>(rows.columns) : target;
  if (options.weight.defined()) share = share * options.weight;
  const Tensor log_p = log_softmax(logits, -1);
  const Tensor losses = sum(masked_fill(log_p, (share == 0) & (log_p == -INFINITY), 0) * -share, -1);
  if (options.reduction == Reduction::none) return losses;
  if (options.reduction == Reduction::sum || rows.count == 0) return sum(losses);
  return sum(losses) / static_cast<double>(rows.count);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options) {
  if (target.defined() && logits.dim() > 0 && logits.shape() == target.shape() &&
      is_floating(target.dtype()) && is_floating(logits.dtype()))
    return soft_cross_entropy(logits, target, options);
  check_loss("cross_entropy", "logits", operand("cross_entropy", logits).shape(), logits.dtype(), target,
             options);
  check_floating("cross_entropy", logits.array());
  const Targets targets("cross_entropy", "logits", logits.shape(), target, options);
  const Array x = logits.array().contiguous();
  const Array losses = Array::empty(target.shape(), x.dtype()),
              largest = Array::empty(target.shape(), x.dtype());
  forward(x, targets, losses, largest);
  return record("cross_entropy", targets.reduce(losses), {&logits},
                [=, x = Saved(x)]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {grad_of_logits(dy, of.in(0, x), targets)};
                  else
                    return {backward(targets.row_grads(dy), *x, targets, largest)};
                });
}

namespace {

/// Rounding may leave a little more than 0.
void expect_log_probability(double x, I row, I target) {
  check(!(x > 1e-4),
        "nll_loss: expects log-probabilities, which are not positive, got {} for target {} of row {}: pass "
        "log_softmax(logits, -1), or the logits to cross_entropy",
        x, target, row);
}

Array nll_grad(const Array& g, const Targets& targets, const Shape& shape) {
  const Array dx = Array::zeros(shape, g.dtype());
  dispatch_floating("nll_loss", g, [&]<class T>() {
    const RowPointers<T> pdx(dx);
    const T* const pg = g.data<T>();
    for (I i = 0; i < g.numel(); ++i)
      if (!targets.ignored(i)) pdx[i][targets[i]] = -pg[i] * static_cast<T>(targets.row<T>(i).own_weight());
  });
  return dx;
}

}  // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const CrossEntropyOptions& options) {
  check_loss("nll_loss", "log_probabilities", operand("nll_loss", log_probabilities).shape(),
             log_probabilities.dtype(), target, options);
  check_floating("nll_loss", log_probabilities.array());
  check(options.label_smoothing == 0, "nll_loss: label smoothing is an option of cross_entropy, got {}",
        options.label_smoothing);
  const Targets targets("nll_loss", "log_probabilities", log_probabilities.shape(), target, options);
  const Array x = log_probabilities.array().contiguous();
  const Array losses = Array::zeros(target.shape(), x.dtype());
  dispatch_floating("nll_loss", x, [&]<class T>() {
    const RowPointers<const T> px(x);
    T* const loss = losses.mutable_data<T>();
    for (I i = 0; i < losses.numel(); ++i) {
      if (targets.ignored(i)) continue;
      const T log_p = px[i][targets[i]];
      const double weight = targets.row<T>(i).own_weight();
      if (weight != 0) expect_log_probability(static_cast<double>(log_p), i, targets[i]);
      loss[i] = times(weight, -log_p);
    }
  });
  return record("nll_loss", targets.reduce(losses), {&log_probabilities},
                [=, shape = x.shape()]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>) {
                    const Tensor c = shares_of(targets, shape, dy.dtype());
                    return {where(c != 0, -(c * targets.row_grads(dy)), 0)};
                  } else {
                    return {nll_grad(targets.row_grads(dy), targets, shape)};
                  }
                });
}

}  // namespace gradus
