#pragma once
// Mix-LN (Li et al. 2024, arXiv 2412.13795): Post-LN in the first blocks, Pre-LN in the others.

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// The first floor(post_share layers) blocks are Post-LN; the paper takes a quarter, so that a stack of fewer
/// than 4 blocks is all Pre-LN. Throws unless post_share is in [0, 1].
Placement mix_ln(double post_share = 0.25);

}  // namespace gradus::nn
