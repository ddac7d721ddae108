#pragma once
// A small expression on gradus's own tape: each node's value and the gradients that backward passes on, for
// a step-by-step figure.
//
//   const TapeRun run = run_tape("twice", {3, 2});  // h = w * x, y = h * h + h
//   run.notes[2].value;                             // of h: {6}
//   run.visits[2].gradient;                         // of h, when backward reaches it: {13}

#include <cstddef>
#include <string>
#include <vector>

#include "gradus/core/shape.h"

namespace gradus::browser {

/// An expression that a reader may choose. Its inputs are scalar tensors; those of layer norm are the three
/// elements of one tensor.
struct Expression {
  std::string name, title;
  std::vector<std::string> inputs;
  std::vector<double> values;  // initial
};
std::vector<Expression> expressions();

/// A node of the tape, in order of recording.
struct TapeNote {
  std::string name, code;           // of its value, such as "h" and "w * x"; an input has no code
  std::string op;                   // the node's own name: "mul", "leaf"
  std::vector<std::size_t> inputs;  // indices into `notes`, repeated if a value was used twice
  Shape shape;
  std::vector<double> value;
};

/// A gradient that an op passes to one of its inputs.
struct Handed {
  std::size_t to;
  std::vector<double> part;   // this op's contribution
  std::vector<double> total;  // sum at `to` so far, including `part`
};

/// Backward at one node.
struct TapeVisit {
  std::size_t note;
  std::vector<double> gradient;  // complete, as passed to the node's hook
  std::vector<Handed> handed;    // in the order of the inputs
};

struct TapeRun {
  std::vector<TapeNote> notes;
  std::vector<TapeVisit> visits;  // in the engine's order
};

/// Computes the expression forward and backward. Throws if the expression is unknown, the number of values is
/// wrong, or a value is not within -100 .. 100.
TapeRun run_tape(const std::string& expression, const std::vector<double>& values);

}  // namespace gradus::browser
