#include "learn/learn.h"

// A tape for scalars. About 12 lines.
//
// Each operation records a node: its value, and for each input the number of its node and the derivative.
//
//   struct ScalarNode { double value; std::vector<std::pair<int, double>> inputs; };
//   using Tape = std::vector<ScalarNode>;
//   int leaf(Tape& tape, double value);            given in examples/course/04_tape/given.h
//
// backward visits the nodes from the newest to the oldest. A node's gradient is complete when all its users
// have been visited; then add (gradient * derivative) to the gradient of each input.
//
// Forbidden: Tensor, which is not needed here.

/// Records a + b on the tape; a and b are numbers of nodes. Returns the number of the new node.
int add(Tape& tape, int a, int b) { return todo(tape, a, b); }

/// The same for a * b.
int mul(Tape& tape, int a, int b) { return todo(tape, a, b); }

/// Returns dy/d(node) for each node of the tape, where y is the number of a node; 0 if y does not depend on
/// it.
std::vector<double> backward(const Tape& tape, int y) { return todo(tape, y); }
