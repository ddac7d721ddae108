#pragma once
// ./run bench --against-pytorch: each case in gradus and in PyTorch, in turn.

#include <string>
#include <vector>

namespace gradus::bench {

struct AgainstOptions {
  std::vector<std::string> cases;  // empty: all that PyTorch has too
  int threads = 1;
  int steps = 10;
  int rounds = 3;
  bool json = false;
  std::string record{};           // a file that keeps the rows, see record.h
  std::string precision = "f32";  // or "bf16": gradus in bf16, PyTorch in the better of both
};

/// Prints the table; returns the exit status: 2 without PyTorch, 1 when a case failed.
int against_pytorch(const AgainstOptions& options);

}  // namespace gradus::bench
