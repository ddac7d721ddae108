#pragma once
// A tape of scalars.

#include <utility>
#include <vector>

struct ScalarNode {
  double value = 0;
  // The nodes from which this one was computed, and the derivative of its value with respect to each.
  std::vector<std::pair<int, double>> inputs = {};
};
using Tape = std::vector<ScalarNode>;

/// Records a value on the tape, and returns the number of its node.
inline int leaf(Tape& tape, double value) {
  tape.push_back({value});
  return static_cast<int>(tape.size()) - 1;
}
