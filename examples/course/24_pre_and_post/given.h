#pragma once
// A sublayer: attention or a feed-forward network, without its residual connection.

#include <functional>
#include <vector>

#include "gradus/core/tensor.h"

using Sublayer = std::function<gradus::Tensor(const gradus::Tensor&)>;
