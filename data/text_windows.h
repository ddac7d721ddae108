#pragma once
// text_windows: a text as training data of a language model.

#include <array>

#include "gradus/core/tensor.h"

namespace gradus::data {

/// Windows of `context` tokens, one every `stride`, and the same windows shifted by one token as targets: ids
/// [N] (i64) -> inputs and targets, both [windows, context], windows = (N - 1 - context) / stride + 1. Both
/// are views of ids and cost no memory (a loader's shuffled order takes 8 bytes per window); with stride =
/// context an epoch has each token once, except for a rest shorter than a window. Throws when ids are too few
/// for one window.
/// `data::DataLoader loader(data::text_windows(ids, 64), {.batch_size = 32, .shuffle = true});`
TensorArray<2> text_windows(const Tensor& ids, Int context, Int stride = 1);

}  // namespace gradus::data
