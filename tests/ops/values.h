#pragma once
// Tensors as plain numbers, for tests of ops on numbers and on what is none.

#include <limits>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Values = std::vector<double>;
inline Values values(const Tensor& x) { return x.to_vector<double>(); }

}  // namespace gradus::test
