#pragma once
// Every placement of the library, by name: for options of programs. Their equations, by family: one_norm.h,
// scaled.h, several_norms.h, two_streams.h; their properties side by side: placements.cpp.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/nn/placements/one_norm.h"
#include "gradus/nn/placements/scaled.h"
#include "gradus/nn/placements/several_norms.h"
#include "gradus/nn/placements/two_streams.h"

namespace gradus::nn {

/// All placements, Pre-LN and Post-LN first: `for (const nn::Placement& p : nn::placements())`. Call
/// prepare_(model, forward) before you train any placement taken from this list: Admin needs it, and it does
/// nothing for the others.
std::vector<Placement> placements();

/// The placement of a name, in any case and without its marks: "Pre-LN", "preln" and "pre" are one, "deep"
/// is DeepNorm; or of another name of it (aliases): "sandwich" is Peri-LN. Throws on any other name, with the
/// names there are.
Placement placement_named(std::string_view name);

/// The library's placement whose name is exactly this, also one made with other numbers, if there is one:
/// "Mix-LN 0.5" is mix_ln(0.5), "DeepNorm 6-3" deep_norm({6, 3}). For files: see Placement::name.
std::optional<Placement> find_placement(const std::string& name);

/// The word to type for each, its name and equation, and on the next line its paper and whether a decoder
/// with memory cannot have it, as `--placement list` prints them.
std::string list_placements();

}  // namespace gradus::nn
