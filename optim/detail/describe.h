#pragma once
// How messages name parameters, and numbers read from a state.

#include <string>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tensor.h"

namespace gradus::optim::detail {

/// "layers.3.linear1.weight [64, 16]", or "parameter 5 [3]" for one of no module.
std::string describe(const Tensor& parameter, std::size_t number);

/// A count, from a file that may be anything; `what` errors call it.
std::int64_t count_of(const char* name, const StateDict& dict, const std::string& key,
                      const std::string& what);

}  // namespace gradus::optim::detail
