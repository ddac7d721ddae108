// A tape in 100 lines: numbers that remember how they were made, and the gradient of one of them. It needs
// nothing but the standard library, so that one can read all of it before reading gradus' own (core/tape/).
//
//   small::Tape tape;
//   small::Number w = tape.leaf(3), x = tape.leaf(2), h = w * x, y = h * h + h;
//   tape.backward(y);      // w.grad() is dy/dw = 26
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace small {

// [note]
/// What an operation leaves behind: its value, the places of its inputs on the tape, and for each of them the
/// slope, d value / d input.
struct Note {
  const char* op;
  double value;
  std::vector<std::size_t> inputs;
  std::vector<double> slopes;
  double grad = 0;
};
// [/note]

class Tape;

/// A number on a tape: a place, no more.
struct Number {
  Tape* tape;
  std::size_t place;
  double value() const;
  double grad() const;  ///< dy / d this, after tape->backward(y)
};

class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;  // numbers point to their tape
  Tape& operator=(const Tape&) = delete;

  /// A number that is given: a weight, an input, a constant.
  Number leaf(double value) { return write({"leaf", value, {}, {}}); }

  Number write(Note note) {
    notes_.push_back(std::move(note));
    return {this, notes_.size() - 1};
  }

  // [backward]
  /// Sets the grad of every note to d y / d note. An input stands before what was made of it, so from the
  /// newest note to the oldest every note has its whole gradient before it passes it on.
  void backward(Number y) {
    for (Note& note : notes_) note.grad = 0;
    notes_[y.place].grad = 1;
    for (std::size_t i = y.place + 1; i-- > 0;)
      for (std::size_t k = 0; k < notes_[i].inputs.size(); ++k)
        notes_[notes_[i].inputs[k]].grad += notes_[i].slopes[k] * notes_[i].grad;
  }
  // [/backward]

  const std::vector<Note>& notes() const { return notes_; }

 private:
  std::vector<Note> notes_;
};

inline double Number::value() const { return tape->notes()[place].value; }
inline double Number::grad() const { return tape->notes()[place].grad; }

inline Number write(const char* op, double value, Number a, double slope) {
  return a.tape->write({op, value, {a.place}, {slope}});
}

inline Number write(const char* op, double value, Number a, double slope_a, Number b, double slope_b) {
  if (a.tape != b.tape) throw std::invalid_argument("two numbers of different tapes");
  return a.tape->write({op, value, {a.place, b.place}, {slope_a, slope_b}});
}

inline Number operator+(Number a, Number b) { return write("add", a.value() + b.value(), a, 1, b, 1); }
inline Number operator-(Number a, Number b) { return write("sub", a.value() - b.value(), a, 1, b, -1); }
// [ops]
inline Number operator*(Number a, Number b) {
  return write("mul", a.value() * b.value(), a, b.value(), b, a.value());
}
inline Number tanh(Number a) {
  const double y = std::tanh(a.value());
  return write("tanh", y, a, 1 - y * y);
}
// [/ops]
inline Number exp(Number a) { return write("exp", std::exp(a.value()), a, std::exp(a.value())); }
inline Number log(Number a) { return write("log", std::log(a.value()), a, 1 / a.value()); }

}  // namespace small
