#pragma once
// Which stacks may leave padding out: those in which nothing but attention looks at other positions. Of
// placements and norms that are not gradus' own nobody knows.

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn::detail {

bool encoder_by_position(const Placement& placement, const MakeNorm& norm);
bool decoder_by_position(const Placement& placement, const MakeNorm& norm);

}  // namespace gradus::nn::detail
