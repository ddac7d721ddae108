#pragma once
// Shared by cross_entropy, nll_loss and linear_cross_entropy: targets, and loss and gradient of one row of
// logits by the formulas above cross_entropy.cpp; last the gradient of all rows in ops.

#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "gradus/core/array/detail/element.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/rows.h"
#include "gradus/ops/ops.h"

namespace gradus {

/// The inputs of a row's loss: its class t, label smoothing e and the weights w [V], null where all are 1.
template <class T>
struct RowTarget {
  std::int64_t target;
  double smoothing;
  const T* weight;

  double weight_of(std::int64_t j) const { return weight ? static_cast<double>(weight[j]) : 1.0; }
  double own_weight() const { return weight_of(target); }
};

/// The class of each row, checked; which rows count, and how their losses become one number.
class Targets {
 public:
  Targets(const char* op, const char* name, const Shape& logits, const Tensor& target,
          const CrossEntropyOptions& options)
      : index_(target.array().contiguous()),
        weight_(options.weight.defined() ? options.weight.array().contiguous() : Array()),
        unchanged_{index_, weight_},
        ignored_(options.ignore_index),
        smoothing_(options.label_smoothing),
        reduction_(options.reduction) {
    const std::int64_t classes = logits.back();
    const std::int64_t* const t = index_.data<std::int64_t>();
    for (std::int64_t row = 0; row < index_.numel(); ++row) {
      if (t[row] == ignored_) continue;
      check(t[row] >= 0 && t[row] < classes, "{}: target {} of row {} is out of range: {} {} have {} classes",
            op, t[row], row, name, logits, classes);
      counted_ += weight_.defined() ? weight_of(t[row]) : 1;
    }
  }

  bool ignored(std::int64_t row) const { return (*this)[row] == ignored_; }
  bool weighted() const { return weight_.defined(); }
  /// Which rows are ignored, [..., 1], or undefined if none is.
  Tensor ignored_rows() const {
    if (!ignored_) return Tensor();
    const Tensor rows = unsqueeze(Tensor(index_) == *ignored_, -1);
    return rows.any() ? rows : Tensor();
  }
  std::int64_t operator[](std::int64_t row) const { return index_.data<std::int64_t>()[row]; }
  template <class T>
  RowTarget<T> row(std::int64_t row) const {
    return {(*this)[row], smoothing_, weight_.defined() ? weight_.data<T>() : nullptr};
  }

  /// What the gradient of a row's loss is of that of the result; 0 for a mean where nothing counts.
  double share() const {
    if (reduction_ != Reduction::mean) return 1;
    return counted_ != 0 ? 1 / counted_ : 0;
  }

  /// The rows' losses as the result: added in order, in double.
  Array reduce(const Array& losses) const {
    if (reduction_ == Reduction::none) return losses;
    double total = 0;
    dispatch_floating("cross_entropy", losses, [&]<class T>() {
      for (const T loss : std::span(losses.data<T>(), static_cast<std::size_t>(losses.numel())))
        total += loss;
    });
    return array::scalar(total * share(), losses.dtype());
  }

  /// The gradients of the rows' losses, [rows]: where backward begins, and targets and weights must still be
  /// those that were checked.
  Array row_grads(const Array& dy) const {
    expect_unchanged();
    if (reduction_ == Reduction::none) return dy.contiguous();
    return Array::full(index_.shape(), dy.item() * share(), dy.dtype());
  }
  /// The same on the tape, [..., 1], or [1] for all rows.
  Tensor row_grads(const Tensor& dy) const {
    expect_unchanged();
    return unsqueeze(reduction_ == Reduction::none ? dy : dy * share(), -1);
  }

 private:
  void expect_unchanged() const {
    for (const Saved& part : unchanged_) (void)part.get();
  }
  double weight_of(std::int64_t target) const {
    return dispatch_floating(weight_.dtype(), [&]<class T>() -> double { return weight_.data<T>()[target]; });
  }

  Array index_, weight_;
  std::array<Saved, 2> unchanged_;
  std::optional<std::int64_t> ignored_;
  double smoothing_;
  Reduction reduction_;
  double counted_ = 0;  // the sum of the weights of the targets that count
};

/// weight times a cost, which is 0 where the weight is, also for an infinite one.
template <class T>
T times(double weight, T cost) {
  return weight == 0 && cost > 0 ? T{0} : static_cast<T>(weight * static_cast<double>(cost));
}

/// f(share, class) for the shares c_j = (1 - e) w_t [j = t] + e w_j / V of the classes that have one.
template <class T, class F>
void for_each_share(const RowTarget<T>& row, std::int64_t classes, F f) {
  const double e = row.smoothing;
  if (e != 1) f((1 - e) * row.own_weight(), row.target);
  if (e == 0) return;
  for (std::int64_t j = 0; j < classes; ++j) f(e * row.weight_of(j) / static_cast<double>(classes), j);
}

/// (1 - e) (m - x_t) + e mean_j(m - x_j) where a difference or their mean may exceed the range: of halves, in
/// f64.
template <class T>
T smoothed_in_f64(const RowTarget<T>& row, std::int64_t classes, const T* x, T largest) {
  const auto half_below = [=](std::int64_t j) {
    return static_cast<double>(largest) / 2 - static_cast<double>(x[j]) / 2;
  };
  const double e = row.smoothing, share = e / static_cast<double>(classes);
  double half = e == 1 ? 0 : (1 - e) * half_below(row.target);
  for (std::int64_t j = 0; j < classes; ++j) half += share * half_below(j);
  return static_cast<T>(2 * half);
}

/// loss = (1 - e) (m - x_t) + e mean_j(m - x_j) + log sum_j exp(x_j - m) of one row x, or with weights sum_j
/// c_j (m - x_j + log sum); m largest. exps, which may be x itself, receives exp(x - largest), and total
/// their sum: what row_grad starts from.
template <class T>
T row_loss(const RowTarget<T>& row, std::int64_t classes, const T* x, T largest, T* exps, T& total) {
  const auto& kernels = kernels::table<T>();
  const T smoothing = static_cast<T>(row.smoothing);
  if (row.weight) {
    double below = 0, shares = 0;
    for_each_share(row, classes, [&](double share, std::int64_t j) {
      below += times(share, static_cast<double>(largest) - static_cast<double>(x[j]));
      shares += share;
    });
    total = kernels.exp_shift_sum(classes, largest, x, exps);
    return static_cast<T>(below + times(shares, std::log(static_cast<double>(total))));
  }
  // Only differences to the maximum count: next to a large one, sums of the logits and the logarithm would
  // lose their digits.
  const T chosen = largest - x[row.target];                                       // m - x_t
  const T all = smoothing == 0 ? T{0} : kernels.mean_below(classes, largest, x);  // mean_j(m - x_j)
  T below = smoothing == 0   ? chosen
            : smoothing == 1 ? all  // the chosen one may be infinite
                             : (1 - smoothing) * chosen + smoothing * all;
  if (smoothing > 0 && std::isinf(below)) below = smoothed_in_f64(row, classes, x, largest);
  total = kernels.exp_shift_sum(classes, largest, x, exps);
  return below + std::log(total);
}

/// Turns exps = exp(x - m), whose sum is `total`, into dx_j = g (softmax(x)_j - (1 - e) [j = t] - e / V), or
/// with weights g (softmax(x)_j sum c - c_j), given the gradient g of the row's loss.
template <class T>
void row_grad(const RowTarget<T>& row, std::int64_t classes, T total, T g, T* exps) {
  const auto& kernels = kernels::table<T>();
  const T smoothing = static_cast<T>(row.smoothing);
  if (row.weight) {
    double shares = 0;
    for_each_share(row, classes, [&](double share, std::int64_t) { shares += share; });
    kernels.scale(classes, static_cast<T>(g * shares / total), exps, exps);
    for_each_share(row, classes, [&](double share, std::int64_t j) { exps[j] -= static_cast<T>(g * share); });
    return;
  }
  kernels.scale(classes, g / total, exps, exps);  // g softmax(x)
  exps[row.target] -= g * (1 - smoothing);
  if (smoothing == 0) return;
  const T uniform = g * smoothing / static_cast<T>(classes);
  kernels.binary[static_cast<int>(kernels::Binary::sub)](classes, exps, 1, &uniform, 0, exps);
}

/// The shares c_j of all rows, [..., V]; 0 in ignored ones.
inline Tensor shares_of(const Targets& targets, const Shape& logits, DType dtype) {
  const Array c = Array::zeros(logits, dtype);
  const Rows rows(logits);
  dispatch_floating("cross_entropy", c, [&]<class T>() {
    const RowPointers<T> pc(c);
    rows.for_each([&](std::int64_t i) {
      if (targets.ignored(i)) return;
      for_each_share(targets.row<T>(i), rows.columns,
                     [&](double share, std::int64_t j) { pc[i][j] += static_cast<T>(share); });
    });
  });
  return Tensor(c);
}

/// dx_j = g (softmax(x)_j sum_k c_k - c_j) of all rows as a formula, given the gradient of the result.
inline Tensor grad_of_logits(const Tensor& dy, const Tensor& x, const Targets& targets) {
  const Tensor c = shares_of(targets, x.shape(), x.dtype()), ignored = targets.ignored_rows();
  // An ignored row is 0 first and last: its logits may be anything, and 0 * inf is NaN.
  const auto counted = [&](const Tensor& rows) {
    return ignored.defined() ? masked_fill(rows, ignored, 0) : rows;
  };
  const Tensor p = softmax(counted(x), -1);
  const Tensor d = targets.weighted() ? p * c.sum(-1, true) - c : p - c;
  return counted(d * targets.row_grads(dy));
}

}  // namespace gradus
