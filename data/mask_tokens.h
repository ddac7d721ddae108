#pragma once
// mask_tokens: training data of a masked language model.

#include <cstdint>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::data {

struct MaskOptions {
  std::int64_t vocab = 0;  // V
  std::int64_t mask = -1;  // the id of [MASK]
  std::vector<std::int64_t> special =
      {};               // ids that are never chosen: padding, [CLS], [SEP]; mask is always included
  double share = 0.15;  // of the other tokens: those chosen
  double masked = 0.8;  // of the chosen ones: those replaced by [MASK]
  double random = 0.1;  // of the chosen ones: those replaced by a random token; the rest is unchanged
};

/// The result of mask_tokens().
struct MaskedTokens {
  Tensor ids;      // the model's input
  Tensor targets;  // the original token at chosen positions, else -100
};

/// Chooses tokens of ids [...] (i64), each independently with probability `share`, and hides them from the
/// model (Devlin et al. 2019, section 3.1); both results have the shape of ids, which is not changed. In the
/// function of a DataLoader it chooses other tokens in each epoch:
///
///     const auto item = [&](std::int64_t i, Generator& generator) {
///       return data::mask_tokens(rows[i], {.vocab = 8000, .mask = 4, .special = {0, 1, 2, 3}}, generator);
///     };
///     data::DataLoader loader(rows.size(0), item, {.batch_size = 32, .shuffle = true});
///
/// Throws when ids, mask or special are not in 0 .. V-1, when a share is not in [0, 1], when masked + random
/// exceeds 1, and when all V ids are special.
MaskedTokens mask_tokens(const Tensor& ids, const MaskOptions& options,
                         Generator& generator = default_generator());

}  // namespace gradus::data
