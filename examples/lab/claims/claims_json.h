#pragma once
// The files data/*.json beside this one, a list of claims each, compiled into the program.

#include <vector>

namespace gradus::lab {

extern const std::vector<const char*> kClaimsJson;

}  // namespace gradus::lab
