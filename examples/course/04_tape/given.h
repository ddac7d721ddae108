#pragma once
// A tape of numbers.

#include <utility>
#include <vector>

struct Note {
  double value = 0;
  // The notes that this one was computed from, and the derivative of its value with regard to each.
  std::vector<std::pair<int, double>> inputs = {};
};
using Tape = std::vector<Note>;

/// Puts a number on the tape, and returns the number of its note.
inline int leaf(Tape& tape, double value) {
  tape.push_back({value});
  return static_cast<int>(tape.size()) - 1;
}
