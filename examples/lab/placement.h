#pragma once
// The two placements the lab compares.

#include "gradus/nn/transformer/placement.h"

namespace gradus::lab {

enum class Placement { pre, post };
inline constexpr Placement kPlacements[] = {Placement::pre, Placement::post};

inline nn::Placement in_library(Placement placement) {
  return placement == Placement::pre ? nn::pre_ln() : nn::post_ln();
}

}  // namespace gradus::lab
