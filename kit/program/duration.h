#pragma once
// Formats times for readers.

#include <string>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Formats seconds with at most two units: "0.4 s", "12 s", "3 min 20 s", "2 h 05 min", "3 d 4 h":
/// `kit::print("took " + kit::human_duration(seconds));`
std::string human_duration(double seconds);

}  // namespace gradus::kit
