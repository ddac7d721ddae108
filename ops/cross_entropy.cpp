// cross_entropy and nll_loss.              x, dx: [..., V]   target: [...]   loss: [...], reduced to []
// One row x of logits with target t and label smoothing e (Szegedy et al. 2016), m = max_j x_j:
//   loss = (1 - e) (l - x_t) + e (l - mean(x))       l = log sum_j exp(x_j) = m + log sum_j exp(x_j - m)
//   dx_j = g (softmax(x)_j - (1 - e) [j = t] - e / V)
//   saves x and m: the softmax is never stored, it becomes dx in place
// nll_loss, one row of log-probabilities:
//   loss = -x_t,   dx_t = -g
//
// g is the gradient of a row's loss: that of the result, divided by the number of rows that count for a mean.
// An ignored row has loss 0 and gradient 0 whatever its logits hold; when all are ignored the mean is 0.

#include <cmath>

#include "gradus/core/dispatch.h"
#include "gradus/core/record.h"
#include "gradus/ops/eager.h"
#include "gradus/ops/operand.h"
#include "gradus/ops/ops.h"
#include "gradus/ops/rows.h"

namespace gradus {

namespace {

using I = std::int64_t;

/// The class of each row, checked; which rows count, and how their losses become one number.
class Targets {
 public:
  Targets(const char* op, const char* name, const Tensor& x, const Tensor& target,
          const CrossEntropyOptions& options)
      : index_(target.array().contiguous()), options_(options) {
    const I classes = x.size(-1);
    const I* const t = index_.data<I>();
    for (I row = 0; row < index_.numel(); ++row) {
      if (t[row] == options.ignore_index) continue;
      check(t[row] >= 0 && t[row] < classes, "{}: target {} of row {} is out of range: {} {} have {} classes",
            op, t[row], row, name, x.shape(), classes);
      ++counted_;
    }
  }

  bool ignored(I row) const { return (*this)[row] == options_.ignore_index; }
  I operator[](I row) const { return index_.data<I>()[row]; }
  double smoothing() const { return options_.label_smoothing; }

  /// The rows' losses as the result: added in order, in double.
  Array reduce(const Array& losses) const {
    if (options_.reduction == Reduction::none) return losses;
    double total = 0;
    dispatch_floating("cross_entropy", losses.dtype(), [&]<class T>() {
      for (const T loss : std::span(losses.data<T>(), static_cast<std::size_t>(losses.numel())))
        total += loss;
    });
    return eager::scalar(total * share(), losses.dtype());
  }

  /// The gradients of the rows' losses, [rows].
  Array spread(const Array& dy) const {
    if (options_.reduction == Reduction::none) return dy.contiguous();
    return Array::full(index_.shape(), dy.item() * share(), dy.dtype());
  }

 private:
  double share() const {
    return options_.reduction == Reduction::mean && counted_ > 0 ? 1.0 / static_cast<double>(counted_) : 1.0;
  }

  Array index_;
  CrossEntropyOptions options_;
  I counted_ = 0;
};

void check_loss(const char* op, const char* name, const Tensor& x, const Tensor& target,
                const CrossEntropyOptions& options) {
  check(operand(op, x).dim() > 0, "{}: expects {} [..., V], got {}", op, name, x.shape());
  check(target.defined(), "{}: expects a defined target", op);
  check(target.dtype() == i64, "{}: expects an i64 target, got {} {}: convert with .to(i64)", op,
        target.dtype(), target.shape());
  Shape rows = x.shape();
  rows.erase(x.dim() - 1);
  check(target.shape() == rows,
        "{}: {} {} and target {} do not match: expects a target {} (classes are the last axis)", op, name,
        x.shape(), target.shape(), rows);
  check(options.label_smoothing >= 0 && options.label_smoothing <= 1,
        "{}: expects label_smoothing from 0 to 1, got {}", op, options.label_smoothing);
}

template <class T>
T row_loss(I classes, T smoothing, I target, const T* x, T largest, T* scratch) {
  const auto& kernels = kernels::table<T>();
  // The logarithm is added last: next to a large maximum it would lose its digits.
  const T log_total = std::log(kernels.exp_shift_sum(classes, largest, x, scratch));
  const T loss = (largest - x[target]) + log_total;
  if (smoothing == 0) return loss;
  const T mean = kernels.sum(classes, x) / static_cast<T>(classes);
  return (1 - smoothing) * loss + smoothing * ((largest - mean) + log_total);
}

template <class T>
void row_grad(I classes, T smoothing, I target, const T* x, T largest, T g, T* dx) {
  const auto& kernels = kernels::table<T>();
  const T total = kernels.exp_shift_sum(classes, largest, x, dx);
  kernels.scale(classes, g / total, dx, dx);
  dx[target] -= g * (1 - smoothing);
  if (smoothing == 0) return;
  const T uniform = g * smoothing / static_cast<T>(classes);
  kernels.binary[static_cast<int>(kernels::Binary::sub)](classes, dx, 1, &uniform, 0, dx);
}

/// losses and largest logits, one per row, from x [..., V], contiguous.
void forward(const Array& x, const Targets& targets, const Array& losses, const Array& largest) {
  const Rows rows(x.shape());
  dispatch_floating("cross_entropy", x.dtype(), [&]<class T>() {
    const RowPointers<const T> px(x);
    T *const loss = losses.mutable_data<T>(), *const m = largest.mutable_data<T>();
    parallel_for(rows.count, rows.grain(), [&](I begin, I end) {
      const Array scratch = Array::empty({rows.columns}, x.dtype());
      for (I i = begin; i < end; ++i) {
        m[i] = loss[i] = 0;
        if (targets.ignored(i)) continue;
        m[i] = kernels::table<T>().max(rows.columns, px[i]);
        loss[i] = row_loss(rows.columns, static_cast<T>(targets.smoothing()), targets[i], px[i], m[i],
                           scratch.mutable_data<T>());
      }
    });
  });
}

Array backward(const Array& g, const Array& x, const Targets& targets, const Array& largest) {
  const Rows rows(x.shape());
  const Array dx = Array::empty(x.shape(), x.dtype());
  dispatch_floating("cross_entropy", x.dtype(), [&]<class T>() {
    const RowPointers<const T> px(x);
    const RowPointers<T> pdx(dx);
    const T *const pg = g.data<T>(), *const m = largest.data<T>();
    rows.for_each([&](I i) {
      if (targets.ignored(i))
        std::fill_n(pdx[i], rows.columns, T{0});
      else
        row_grad(rows.columns, static_cast<T>(targets.smoothing()), targets[i], px[i], m[i], pg[i], pdx[i]);
    });
  });
  return dx;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options) {
  check_loss("cross_entropy", "logits", logits, target, options);
  const Targets targets("cross_entropy", "logits", logits, target, options);
  const Array x = logits.array().contiguous();
  const Array losses = Array::empty(target.shape(), x.dtype()),
              largest = Array::empty(target.shape(), x.dtype());
  forward(x, targets, losses, largest);
  return record("cross_entropy", targets.reduce(losses), {&logits},
                [=, x = Saved(x)](const Array& dy, Needs) -> Grads {
                  return {backward(targets.spread(dy), *x, targets, largest)};
                });
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const CrossEntropyOptions& options) {
  check_loss("nll_loss", "log_probabilities", log_probabilities, target, options);
  check(options.label_smoothing == 0, "nll_loss: label smoothing is an option of cross_entropy, got {}",
        options.label_smoothing);
  const Targets targets("nll_loss", "log_probabilities", log_probabilities, target, options);
  const Array x = log_probabilities.array().contiguous();
  const Array losses = Array::zeros(target.shape(), x.dtype());
  dispatch_floating("nll_loss", x.dtype(), [&]<class T>() {
    const RowPointers<const T> px(x);
    T* const loss = losses.mutable_data<T>();
    for (I i = 0; i < losses.numel(); ++i)
      if (!targets.ignored(i)) loss[i] = -px[i][targets[i]];
  });
  return record("nll_loss", targets.reduce(losses), {&log_probabilities},
                [=, shape = x.shape()](const Array& dy, Needs) -> Grads {
                  const Array g = targets.spread(dy), dx = Array::zeros(shape, dy.dtype());
                  dispatch_floating("nll_loss", dy.dtype(), [&]<class T>() {
                    const RowPointers<T> pdx(dx);
                    const T* const pg = g.data<T>();
                    for (I i = 0; i < g.numel(); ++i)
                      if (!targets.ignored(i)) pdx[i][targets[i]] = -pg[i];
                  });
                  return {dx};
                });
}

}  // namespace gradus
