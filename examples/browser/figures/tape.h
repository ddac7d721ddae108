#pragma once
// A small expression on gradus's own tape: what each note holds, and what backward hands on at each, for a
// figure one steps through.
//
//   const TapeRun run = run_tape("twice", {3, 2});  // h = w * x, y = h * h + h
//   run.notes[2].value;                             // of h: {6}
//   run.visits[2].gradient;                         // of h, when backward comes to it: {13}

#include <cstddef>
#include <string>
#include <vector>

#include "gradus/core/shape.h"

namespace gradus::browser {

/// An expression that a reader may choose. Its inputs are numbers, each a tensor of its own; those of layer
/// norm are the three elements of one.
struct Expression {
  std::string name, title;
  std::vector<std::string> inputs;
  std::vector<double> values;  // to begin with
};
std::vector<Expression> expressions();

/// A note of the tape, in the order they were written.
struct TapeNote {
  std::string name, code;           // of its value, such as "h" and "w * x"; of an input no code
  std::string op;                   // as the note itself says: "mul", "leaf"
  std::vector<std::size_t> inputs;  // places in `notes`, the same one twice where it was used twice
  Shape shape;
  std::vector<double> value;
};

/// What an op hands on to one of its inputs.
struct Handed {
  std::size_t to;
  std::vector<double> part;   // by this op
  std::vector<double> total;  // what `to` has gathered with it
};

/// Backward at one note.
struct TapeVisit {
  std::size_t note;
  std::vector<double> gradient;  // complete, as the engine gave it to the note's hook
  std::vector<Handed> handed;    // in the order of the inputs
};

struct TapeRun {
  std::vector<TapeNote> notes;
  std::vector<TapeVisit> visits;  // in the engine's order
};

/// Computes the expression forward and backward. Throws where there is no such expression, where the number
/// of values is another one, and where one is not within -100 .. 100.
TapeRun run_tape(const std::string& expression, const std::vector<double>& values);

}  // namespace gradus::browser
