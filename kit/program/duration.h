#pragma once
// Times for people to read.

#include <string>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Seconds in words, two units at most: "0.4 s", "12 s", "3 min 20 s", "2 h 05 min", "3 d 4 h":
/// `kit::print("took " + kit::human_duration(seconds));`
std::string human_duration(double seconds);

}  // namespace gradus::kit
