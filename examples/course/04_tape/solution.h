#include "learn/learn.h"

int add(Tape& tape, int a, int b) {
  tape.push_back({tape[a].value + tape[b].value, {{a, 1.0}, {b, 1.0}}});
  return static_cast<int>(tape.size()) - 1;
}

int mul(Tape& tape, int a, int b) {
  tape.push_back({tape[a].value * tape[b].value, {{a, tape[b].value}, {b, tape[a].value}}});
  return static_cast<int>(tape.size()) - 1;
}

std::vector<double> backward(const Tape& tape, int y) {
  std::vector<double> gradient(tape.size(), 0.0);
  gradient[y] = 1;
  for (int node = y; node >= 0; --node)
    for (const auto& [input, derivative] : tape[node].inputs) gradient[input] += gradient[node] * derivative;
  return gradient;
}
