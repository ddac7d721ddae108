#include "gradus/nn/transformer/detail/by_position.h"

#include <algorithm>

#include "gradus/nn/layers/shape.h"
#include "gradus/nn/norm/dyt.h"
#include "gradus/nn/placements/deep_norm.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::nn::detail {

static bool norm_by_position(const MakeNorm& norm) {
  using Maker = Norm (*)(const NormOptions&);
  const Maker* const made = norm.target<Maker>();
  return made && (*made == make_norm<LayerNorm> || *made == make_norm<RMSNorm> || *made == make_norm<DyT> ||
                  *made == make_norm<Identity>);
}

/// Made by the same code as one of gradus' own, all of which are by position.
static bool known(const Placement& placement, bool decoder) {
  std::vector<Placement> all = placements();
  all.push_back(deep_norm({.encoder_layers = 1, .decoder_layers = 1}));
  return std::any_of(all.begin(), all.end(), [&](const Placement& p) {
    const bool same_blocks = decoder ? p.decoder_block.target_type() == placement.decoder_block.target_type()
                                     : p.block.target_type() == placement.block.target_type();
    return same_blocks && p.enter.target_type() == placement.enter.target_type() &&
           p.leave.target_type() == placement.leave.target_type();
  });
}

bool encoder_by_position(const Placement& placement, const MakeNorm& norm) {
  return norm_by_position(norm) && known(placement, false);
}

bool decoder_by_position(const Placement& placement, const MakeNorm& norm) {
  return norm_by_position(norm) && known(placement, true);
}

}  // namespace gradus::nn::detail
