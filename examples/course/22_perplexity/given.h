#pragma once
// A batch of a text with the model's output for it, and a window of a text.

#include <cstdint>

#include "gradus/core/tensor.h"

struct Batch {
  gradus::Tensor logits;  // [B, T, V]
  gradus::Tensor target;  // [B, T], i64; -100 is padding
};

/// The model reads the tokens begin .. end - 1; of these, first .. end - 1 are scored.
struct Window {
  std::int64_t begin, end, first;
};
