#pragma once
// Every placement there is here, by name: for options of programs.

#include <string>
#include <string_view>
#include <vector>

#include "gradus/nn/placements/admin.h"
#include "gradus/nn/placements/b2t.h"
#include "gradus/nn/placements/deep_norm.h"
#include "gradus/nn/placements/hybrid_norm.h"
#include "gradus/nn/placements/keel.h"
#include "gradus/nn/placements/ln_scaling.h"
#include "gradus/nn/placements/mix_ln.h"
#include "gradus/nn/placements/no_norm.h"
#include "gradus/nn/placements/olmo2.h"
#include "gradus/nn/placements/peri_ln.h"
#include "gradus/nn/placements/resi_dual.h"
#include "gradus/nn/placements/rezero.h"
#include "gradus/nn/placements/siamese_norm.h"

namespace gradus::nn {

/// All placements, Pre-LN and Post-LN first: `for (const nn::Placement& p : nn::placements())`
std::vector<Placement> placements();

/// The placement of a name, in any case and without its marks: "Pre-LN", "preln" and "pre" are one, "deep"
/// is DeepNorm, "sandwich" Peri-LN. Throws on any other name, with the names there are.
Placement placement_named(std::string_view name);

/// The word to type for each, its name and equation, and on the next line its paper and whether a decoder
/// with memory cannot have it, as `--placement list` prints them.
std::string list_placements();

}  // namespace gradus::nn
