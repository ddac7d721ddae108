#pragma once
// A text that beam search has begun.

#include <cstdint>
#include <vector>

struct Beam {
  std::vector<std::int64_t> tokens;
  double log_p = 0;  // of all its tokens
};
