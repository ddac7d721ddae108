#pragma once
// Every norm a block may have, by name: for options of programs.

#include <string>
#include <string_view>
#include <vector>

#include "gradus/nn/norm/norm.h"

namespace gradus::nn {

/// A norm of blocks and what is to be said of it.
struct NamedNorm {
  std::string name;      // "rms"
  std::string kind;      // "RMSNorm", of the module it makes
  std::string equation;  // of a token x [C]
  std::string paper;     // where it was proposed
  MakeNorm make;         // for BlockOptions::norm
};

/// All norms, layer norm first, then by year; GroupNorm's are of `groups` groups of channels:
/// `for (const nn::NamedNorm& n : nn::norms())`
std::vector<NamedNorm> norms(std::int64_t groups = 4);

/// The norm of a name, in any case: layer, rms, batch, group, dyt or none; "RMSNorm" is "rms". Throws on any
/// other name, with the names there are.
/// `nn::PreLNBlock block({.d_model = 64, .heads = 4, .norm = nn::norm_named("rms").make});`
NamedNorm norm_named(std::string_view name, std::int64_t groups = 4);

/// Name and equation of each, and its paper on the next line, as `--norm list` prints them.
std::string list_norms();

}  // namespace gradus::nn
