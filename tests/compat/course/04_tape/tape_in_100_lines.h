// A tape in 100 lines: scalars that record how they were computed, and the gradient of one of them. It needs
// only the standard library, so you can read all of it before gradus' own tape (core/tape/).
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

// [node]
/// The record of an operation: its value, the places of its inputs on the tape, and for each of them the
/// slope, d value / d input.
struct Node {
  const char* op;
  double value;
  std::vector<std::size_t> inputs;
  std::vector<double> slopes;
  double grad = 0;
};
// [/node]

class Tape;

/// A scalar on a tape, identified by its place.
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

  /// A given value: a weight, an input, a constant.
  Number leaf(double value) { return write({"leaf", value, {}, {}}); }

  Number write(Node node) {
    nodes_.push_back(std::move(node));
    return {this, nodes_.size() - 1};
  }

  // [backward]
  /// Sets the grad of every node to d y / d node. Inputs come before the nodes computed from them, so when
  /// the nodes are visited from newest to oldest, every gradient is complete before it is passed on.
  void backward(Number y) {
    for (Node& node : nodes_) node.grad = 0;
    nodes_[y.place].grad = 1;
    for (std::size_t i = y.place + 1; i-- > 0;)
      for (std::size_t k = 0; k < nodes_[i].inputs.size(); ++k)
        nodes_[nodes_[i].inputs[k]].grad += nodes_[i].slopes[k] * nodes_[i].grad;
  }
  // [/backward]

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

inline double Number::value() const { return tape->nodes()[place].value; }
inline double Number::grad() const { return tape->nodes()[place].grad; }

inline Number write(const char* op, double value, Number a, double slope) {
  return a.tape->write({op, value, {a.place}, {slope}});
}

inline Number write(const char* op, double value, Number a, double slope_a, Number b, double slope_b) {
  if (a.tape != b.tape) throw std::invalid_argument("two numbers from different tapes");
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
