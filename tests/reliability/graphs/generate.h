#pragma once
// Random graphs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reliability/graphs/run.h"

namespace gradus::test::graphs {

struct Failure {
  std::vector<Step> steps;
  std::string what;
};

/// Makes graph number `seed` while it runs; where library and interpreter disagree, the graph so far.
/// `done` gets the steps of a graph in which they agree.
std::optional<Failure> failure_of(std::uint64_t seed, std::vector<Step>* done = nullptr);

}  // namespace gradus::test::graphs
