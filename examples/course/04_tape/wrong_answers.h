namespace product_with_its_own_value {
using solution::add, solution::backward;
int mul(Tape& tape, int a, int b) {
  const int y = solution::mul(tape, a, b);
  std::swap(tape[y].inputs[0].second, tape[y].inputs[1].second);
  return y;
}
}  // namespace product_with_its_own_value
MUTANT(product_with_its_own_value, "the derivative of a product", "all three together")

namespace sum_for_product {
using solution::add, solution::backward;
int mul(Tape& tape, int a, int b) {
  const int y = solution::mul(tape, a, b);
  tape[y].value = tape[a].value + tape[b].value;
  return y;
}
}  // namespace sum_for_product
MUTANT(sum_for_product, "add and mul compute")

namespace gradients_overwritten {
using solution::add, solution::mul;
std::vector<double> backward(const Tape& tape, int y) {
  std::vector<double> gradient(tape.size(), 0.0);
  gradient[y] = 1;
  for (int node = y; node >= 0; --node)
    for (const auto& [input, derivative] : tape[node].inputs) gradient[input] = gradient[node] * derivative;
  return gradient;
}
}  // namespace gradients_overwritten
MUTANT(gradients_overwritten, "all three together", "two paths add up", "a node waits for all its users")

namespace from_the_oldest {
using solution::add, solution::mul;
std::vector<double> backward(const Tape& tape, int y) {
  std::vector<double> gradient(tape.size(), 0.0);
  gradient[y] = 1;
  for (const auto& [input, derivative] : tape[y].inputs) gradient[input] += derivative;
  for (int node = 0; node < y; ++node)
    for (const auto& [input, derivative] : tape[node].inputs) gradient[input] += gradient[node] * derivative;
  return gradient;
}
}  // namespace from_the_oldest
MUTANT(from_the_oldest, "a node waits for all its users")

namespace from_the_end_of_the_tape {
using solution::add, solution::mul;
std::vector<double> backward(const Tape& tape, int) {
  return solution::backward(tape, static_cast<int>(tape.size()) - 1);
}
}  // namespace from_the_end_of_the_tape
MUTANT(from_the_end_of_the_tape, "nodes after y are ignored")

namespace derivatives_added {
using solution::add, solution::mul;
std::vector<double> backward(const Tape& tape, int y) {
  std::vector<double> gradient(tape.size(), 0.0);
  gradient[y] = 1;
  for (int node = y; node >= 0; --node)
    for (const auto& [input, derivative] : tape[node].inputs)
      gradient[input] += (node == y ? 0 : gradient[node]) + derivative;
  return gradient;
}
}  // namespace derivatives_added
MUTANT(derivatives_added, "all three together", "a chain multiplies", "two paths add up",
       "a node waits for all its users")

namespace {
/// Records a value computed from a and b, with these derivatives.
int node(Tape& tape, double value, int a, double da, int b, double db) {
  tape.push_back({value, {{a, da}, {b, db}}});
  return static_cast<int>(tape.size()) - 1;
}
}  // namespace

namespace product_with_inputs_crossed {
using solution::add, solution::backward;
int mul(Tape& tape, int a, int b) {
  return node(tape, tape[a].value * tape[b].value, b, tape[b].value, a, tape[a].value);
}
}  // namespace product_with_inputs_crossed
MUTANT(product_with_inputs_crossed, "the derivative of a product", "all three together")

namespace sum_without_inputs {
using solution::mul, solution::backward;
int add(Tape& tape, int a, int b) { return leaf(tape, tape[a].value + tape[b].value); }
}  // namespace sum_without_inputs
MUTANT(sum_without_inputs, "all three together")

namespace values_for_the_derivatives_of_a_sum {
using solution::mul, solution::backward;
int add(Tape& tape, int a, int b) {
  const double va = tape[a].value, vb = tape[b].value;
  return node(tape, va + vb, a, va, b, vb);
}
}  // namespace values_for_the_derivatives_of_a_sum
MUTANT(values_for_the_derivatives_of_a_sum, "all three together")

namespace right_with_inputs_in_the_other_order {
using solution::backward;
int add(Tape& tape, int a, int b) { return node(tape, tape[a].value + tape[b].value, b, 1, a, 1); }
int mul(Tape& tape, int a, int b) {
  return node(tape, tape[a].value * tape[b].value, b, tape[a].value, a, tape[b].value);
}
}  // namespace right_with_inputs_in_the_other_order
MUTANT(right_with_inputs_in_the_other_order)  // fails no case
