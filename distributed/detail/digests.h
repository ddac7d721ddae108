#pragma once
// Checksums of tensors, as a text to compare between ranks.

#include <string>

#include "gradus/core/tensor.h"

namespace gradus::distributed::detail {

/// "layers.0.linear1.weight [64, 16] f32 3f2a90b1", and whether it is frozen.
std::string digest(const std::string& name, const Tensor& tensor);

/// A line for each entry, a pair of name and tensor.
template <class Entries>
std::string digests(const Entries& tensors) {
  std::string lines;
  for (const auto& [name, tensor] : tensors) lines += digest(name, tensor) + "\n";
  return lines;
}

}  // namespace gradus::distributed::detail
