#pragma once
// Metrics of predictions: accuracy and the confusion matrix.

#include <cstdint>
#include <optional>

#include "gradus/core/tensor.h"

namespace gradus::data {

struct MetricOptions {
  std::optional<std::int64_t> ignore_index = -100;  // targets with this value are not counted
};

/// The share of targets predicted correctly, 0 to 1; NaN if no target is counted. targets [...] (i64 or
/// bool); predicted: logits [..., C], whose largest is the prediction (the first of equal ones), or the
/// predictions [...], i64 or bool. Throws when a target is not one of the C classes, and when C is 1.
/// `data::accuracy(net(x), y)`, for one logit each `data::accuracy(net(x).squeeze(-1) > 0, y)`
double accuracy(const Tensor& predicted, const Tensor& targets, const MetricOptions& options = {});

/// How often each class was predicted for each target: i64 [classes, classes], rows are targets, columns
/// predictions (scikit-learn's order), so that row sums count the targets. Takes the arguments of accuracy;
/// throws when a class is not 0 .. classes - 1. `data::confusion_matrix(logits, targets, 10)`
Tensor confusion_matrix(const Tensor& predicted, const Tensor& targets, Int classes,
                        const MetricOptions& options = {});

}  // namespace gradus::data
