#pragma once
// Names of parameters in messages, and counts read from a state.

#include <string>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tensor.h"

namespace gradus::optim::detail {

/// "layers.3.linear1.weight [64, 16]", or "parameter 5 [3]" if it belongs to no module.
std::string describe(const Tensor& parameter, std::size_t number);

/// Reads a count from a state, which may come from any file; errors name it `what`.
std::int64_t count_of(const char* name, const StateDict& dict, const std::string& key,
                      const std::string& what);

}  // namespace gradus::optim::detail
