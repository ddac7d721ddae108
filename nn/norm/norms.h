#pragma once
// The norms of blocks by name: for programs' options.

#include <string>
#include <string_view>
#include <vector>

#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

/// A norm of blocks and its description.
struct NamedNorm {
  std::string name;      // "rms"
  std::string kind;      // "RMSNorm", of the module it makes
  std::string equation;  // of a token x [C]
  std::string paper;     // where it was proposed
  MakeNorm make;         // for BlockOptions::norm
};

/// All norms, layer norm first, then by year; GroupNorm has `groups` groups of channels:
/// `for (const nn::NamedNorm& n : nn::norms())`
std::vector<NamedNorm> norms(std::int64_t groups = 4);

/// The norm with a name, in any case: layer, rms, batch, group, dyt or none; "RMSNorm" is "rms". Throws for
/// any other name, listing all names.
/// `nn::PreLNBlock block({.d_model = 64, .heads = 4, .norm = nn::norm_named("rms").make});`
NamedNorm norm_named(std::string_view name, std::int64_t groups = 4);

/// The name and equation of each norm, and its paper on the next line, as printed by `--norm list`.
std::string list_norms();

}  // namespace gradus::nn
