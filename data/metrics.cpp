#include "gradus/data/metrics.h"

#include <limits>

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::data {

namespace {

/// Predicted classes and their targets.
struct Pairs {
  Array predicted, targets;  // i64, contiguous
  std::optional<std::int64_t> classes;
};

bool counts(const Tensor& x) { return x.dtype() == i64 || x.dtype() == boolean; }

Pairs pair_up(const char* op, const Tensor& predicted, const Tensor& targets) {
  if (!predicted.defined()) fail_undefined(op, "predicted");
  if (!targets.defined()) fail_undefined(op, "targets");
  check(counts(targets), "{}: expects targets i64 or bool, got {} {}: {}", op, targets.dtype(),
        targets.shape(),
        targets.shape() == predicted.shape() && targets.dim() > 1
            ? "convert with .to(i64), or, if they are probabilities, take the .argmax(-1)"
            : "convert with .to(i64)");
  Shape rows = predicted.shape();
  const bool logits = !counts(predicted);
  if (logits) {
    check(!(rows == targets.shape()),
          "{}: predicted {} {} and targets {} have the same shape, but logits have one more axis: for one "
          "logit each pass `logits > 0`, for classes i64",
          op, predicted.dtype(), rows, targets.shape());
    check(rows.empty() || rows.back() != 1,
          "{}: predicted {} {} has one class, which would always be right: for one logit each pass "
          "`logits.squeeze(-1) > 0`",
          op, predicted.dtype(), rows);
    if (!rows.empty()) rows.erase(rows.size() - 1);
  }
  check(rows == targets.shape(),
        "{}: expects logits [..., C] or classes [...] for targets [...], got {} {} and {}", op,
        predicted.dtype(), predicted.shape(), targets.shape());
  const NoGrad no_grad;
  Pairs pairs;
  if (logits) pairs.classes = predicted.shape().back();
  const auto ids = [](const Tensor& x) { return x.array().to(i64).contiguous(); };
  // argmax needs at least one row.
  pairs.predicted = ids(logits && targets.numel() > 0 ? argmax(predicted, -1) : predicted);
  pairs.targets = ids(targets);
  return pairs;
}

/// f(predicted, target) for every pair whose target is not ignore_index.
template <class F>
void for_each(const char* op, const Pairs& pairs, const MetricOptions& options, F f) {
  const std::int64_t* const predicted = pairs.predicted.data<std::int64_t>();
  const std::int64_t* const targets = pairs.targets.data<std::int64_t>();
  for (std::int64_t i = 0; i < pairs.targets.numel(); ++i) {
    if (targets[i] == options.ignore_index) continue;
    check(!pairs.classes || (targets[i] >= 0 && targets[i] < *pairs.classes),
          "{}: target {} at {} is not one of the {} classes", op, targets[i], i, pairs.classes.value_or(0));
    f(predicted[i], targets[i]);
  }
}

}  // namespace

double accuracy(const Tensor& predicted, const Tensor& targets, const MetricOptions& options) {
  std::int64_t right = 0, all = 0;
  for_each("accuracy", pair_up("accuracy", predicted, targets), options, [&](std::int64_t p, std::int64_t t) {
    right += p == t;
    ++all;
  });
  return all > 0 ? static_cast<double>(right) / static_cast<double>(all)
                 : std::numeric_limits<double>::quiet_NaN();
}

Tensor confusion_matrix(const Tensor& predicted, const Tensor& targets, Int classes,
                        const MetricOptions& options) {
  const char* const op = "confusion_matrix";
  check(classes >= 1, "{}: expects 1 class or more, got {}", op, classes);
  const Pairs pairs = pair_up(op, predicted, targets);
  check(pairs.classes.value_or(classes) == classes, "{}: expects logits of {} classes, got {}", op, classes,
        predicted.shape());
  const Array matrix = Array::full({classes, classes}, 0, i64, op);
  std::int64_t* const count = matrix.mutable_data<std::int64_t>();
  for_each(op, pairs, options, [&](std::int64_t p, std::int64_t t) {
    check(p >= 0 && p < classes && t >= 0 && t < classes,
          "{}: predicted {} for target {}: expects classes 0 to {}", op, p, t, classes - 1);
    ++count[t * classes + p];
  });
  return Tensor(matrix);
}

}  // namespace gradus::data
