#pragma once
// Checkpoint averaging: the mean of a model's last few states is often better than the last one (Vaswani et
// al. 2017, section 6.1: the last 5, or 20).

#include <vector>

#include "gradus/core/io/state_dict.h"

namespace gradus::optim {

/// The mean of each floating-point tensor over all states, computed in f64; other tensors are those of the
/// last state. Throws unless there is a state and all have the same keys, shapes and dtypes.
/// `model.load_state_dict(optim::average({load_safetensors("a.safetensors"), model.state_dict()}));`
StateDict average(const std::vector<StateDict>& states);

}  // namespace gradus::optim
