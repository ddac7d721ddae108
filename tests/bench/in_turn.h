#pragma once
// Comparing ways of doing the same thing in one process: a little of each, again and again, so that a noisy
// moment hits all of them.

#include <string>
#include <vector>

#include "bench/cases.h"

namespace gradus::bench {

struct Variant {
  std::string name;
  std::function<Step()> make;
  std::function<void()> enter = [] {};  // switches something; called before `make` and before each turn
};

struct Figures {
  double seconds = 0;           // median
  std::int64_t peak_bytes = 0;  // of arrays, at most, from before `make` to the end of a step
};

struct Turns {
  int rounds = 3;
  double seconds = 0.15;  // of each turn, at least; two steps at least
};

/// Figures of each variant; what `enter` switched is switched back at the end (see restore_settings).
std::vector<Figures> in_turn(const std::vector<Variant>& variants, const Turns& turns = {});

/// Kernels, matrix products and threads as they were at the first call.
void restore_settings();

}  // namespace gradus::bench
