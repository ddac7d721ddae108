#pragma once
// mask_tokens: what a masked language model learns from.

#include <cstdint>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::data {

struct MaskOptions {
  std::int64_t vocab = 0;  // V
  std::int64_t mask = -1;  // the id of [MASK]
  std::vector<std::int64_t> special =
      {};               // ids that are never chosen: padding, [CLS], [SEP]; mask is one of them
  double share = 0.15;  // of the other tokens, that are chosen
  double masked = 0.8;  // of the chosen ones, that become [MASK]
  double random = 0.1;  // that become any token but a special one; the rest stays as it is
};

/// What mask_tokens() gives.
struct MaskedTokens {
  Tensor ids;      // what the model sees
  Tensor targets;  // the token where one was chosen, else -100
};

/// Chooses tokens of ids [...] (i64), each by itself with probability `share`, and hides them from the model
/// (Devlin et al. 2019, section 3.1); both results have the shape of ids, which stays as it is. In the
/// function of a DataLoader it masks anew in each epoch:
///
///     const auto item = [&](std::int64_t i, Generator& generator) {
///       return data::mask_tokens(rows[i], {.vocab = 8000, .mask = 4, .special = {0, 1, 2, 3}}, generator);
///     };
///     data::DataLoader loader(rows.size(0), item, {.batch_size = 32, .shuffle = true});
///
/// Throws when ids, mask or special are not in 0 .. V-1, at shares that are none, and when all V are special.
MaskedTokens mask_tokens(const Tensor& ids, const MaskOptions& options,
                         Generator& generator = default_generator());

}  // namespace gradus::data
