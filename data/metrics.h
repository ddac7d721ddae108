#pragma once
// How good predictions are, by counting.

#include <cstdint>
#include <optional>

#include "gradus/core/tensor.h"

namespace gradus::data {

struct MetricOptions {
  std::optional<std::int64_t> ignore_index = -100;  // targets that do not count
};

/// The share of targets that are predicted, 0 to 1; NaN where none counts. targets [...] (i64 or bool),
/// predicted logits [..., C], of which the largest counts (of equal ones the first), or what is predicted
/// itself: [...], i64 or bool. Throws when a target is none of the C classes, and when C is 1.
/// `data::accuracy(net(x), y)`, of one logit each `data::accuracy(net(x).squeeze(-1) > 0, y)`
double accuracy(const Tensor& predicted, const Tensor& targets, const MetricOptions& options = {});

/// How often each class was taken for which: i64 [classes, classes], rows the targets, columns what was
/// predicted (scikit-learn's order), so that row sums count the targets. Takes what accuracy takes; throws
/// when a class is not 0 .. classes - 1. `data::confusion_matrix(logits, targets, 10)`
Tensor confusion_matrix(const Tensor& predicted, const Tensor& targets, Int classes,
                        const MetricOptions& options = {});

}  // namespace gradus::data
