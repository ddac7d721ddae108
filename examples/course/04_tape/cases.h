struct Answer {
  int (*add)(Tape& tape, int a, int b);
  int (*mul)(Tape& tape, int a, int b);
  std::vector<double> (*backward)(const Tape& tape, int y);
};
#define ANSWER(FROM) \
  { FROM::add, FROM::mul, FROM::backward }

CASE("add and mul compute",
     "The value of the new node is the sum or the product of the values. Return its position: tape.size() - "
     "1.") {
  Tape tape;
  const int a = leaf(tape, 3), b = leaf(tape, 5);
  near("3 + 5", tape[answer.add(tape, a, b)].value, 8);
  near("3 * 5", tape[answer.mul(tape, a, b)].value, 15);
}
CASE("the derivative of a product", "d(a b)/da = b: each input gets the value of the other.") {
  Tape tape;
  const int a = leaf(tape, 3), b = leaf(tape, 5), y = answer.mul(tape, a, b);
  double da = 0, db = 0;  // the inputs may be in any order
  for (const auto& [input, derivative] : tape[y].inputs) (input == a ? da : db) += derivative;
  near("d(a b)/da for a = 3, b = 5,", da, 5), near("d(a b)/db", db, 3);
}
CASE("all three together",
     "The derivative of a + b is 1 for both. An input is the number of its node, with the derivative for "
     "it.") {
  Tape tape;
  leaf(tape, 7);  // nothing depends on it
  const int x = leaf(tape, 3), w = leaf(tape, 2), y = answer.add(tape, answer.mul(tape, w, x), w);
  const std::vector<double> gradients = answer.backward(tape, y);
  near("dy/dx of y = w x + w for x = 3, w = 2,", gradients[x], 2), near("dy/dw", gradients[w], 4);
}
// The tapes below are written by hand: w = node 0, h = 2 w, hh = h h, y = hh + h.
CASE("a chain multiplies", "dy/dx = dy/dh dh/dx.") {
  const Tape tape = {{3, {}}, {6, {{0, 2.0}}}, {30, {{1, 5.0}}}};
  near("the gradients", answer.backward(tape, 2), std::vector<double>{10, 5, 1});
}
CASE("two paths add up", "A node with two users gets a gradient from each: +=, not =.") {
  const Tape tape = {{3, {}}, {6, {{0, 2.0}}}, {36, {{1, 6.0}, {1, 6.0}}}, {42, {{2, 1.0}, {1, 1.0}}}};
  near("dy/dh of y = h h + h for h = 6", answer.backward(tape, 3)[1], 13);
}
CASE("a node waits for all its users",
     "From the newest node to the oldest: then each gradient is complete in time.") {
  const Tape tape = {{1, {}}, {1, {{0, 1.0}}}, {1, {{1, 1.0}}}, {2, {{1, 1.0}, {2, 1.0}}}};
  near("dy/dw", answer.backward(tape, 3)[0], 2);
}
CASE("nodes after y are ignored", "Begin at y with gradient 1, not at the end of the tape.") {
  const Tape tape = {{3, {}}, {6, {{0, 2.0}}}, {18, {{0, 6.0}}}};
  near("the gradients of node 1", answer.backward(tape, 1), std::vector<double>{2, 1, 0});
}
