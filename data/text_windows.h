#pragma once
// A text as training data of a language model: all of its windows, or random ones.

#include <array>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::data {

/// Windows of `context` tokens, one every `stride`, and the same windows shifted by one token as targets: ids
/// [N] (i64) -> inputs and targets, both [windows, context], windows = (N - 1 - context) / stride + 1. Both
/// are views of ids and cost no memory (a loader's shuffled order takes 8 bytes per window); with stride =
/// context an epoch has each token once, except for a rest shorter than a window. Throws when ids are too few
/// for one window.
/// `data::DataLoader loader(data::text_windows(ids, 64), {.batch_size = 32, .shuffle = true});`
TensorArray<2> text_windows(const Tensor& ids, Int context, Int stride = 1);

/// `count` of these windows, copied: each place in ids [N] is equally likely, and may be drawn twice. Returns
/// inputs and targets, both [count, context]; throws as text_windows() does.
/// `const auto [x, y] = data::random_windows(ids, /*count=*/16, /*context=*/64);`
TensorArray<2> random_windows(const Tensor& ids, Int count, Int context,
                              Generator& generator = default_generator());

}  // namespace gradus::data
