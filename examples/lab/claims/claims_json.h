#pragma once
// The files data/*.json, each a list of claims, compiled into the program.

#include <vector>

namespace gradus::lab {

extern const std::vector<const char*> kClaimsJson;

}  // namespace gradus::lab
