#pragma once
// Training steps of some models: on many ranks, on one, and what computing takes of them.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "distributed/speed/model.h"
#include "gradus/distributed/communicator.h"
#include "gradus/nn/models/gpt.h"

namespace gradus::speed {

struct Case {
  std::string name;
  nn::GPTOptions gpt;
  std::int64_t rows = 0, tokens = 0;  // of the global batch
};

std::vector<std::string> names_of_cases();
/// Throws for another name.
Case case_called(const std::string& name);

/// {"model", "tokens", "step_s", and on several ranks "alone_s", "sums_s", "mpi_sums_s", "predicted_s", ...}:
/// a step with AdamW on a global batch of the case; one of a rank's part of it on all ranks at once but
/// without communication; the sums of all buckets, in the tree and by MPI; and what a model predicts of the
/// step, from alone_s and the fitted cost of all_reduce.
nlohmann::ordered_json measure_step(const distributed::Communicator& world, const Case& c,
                                    const Cost& all_reduce, int rounds);

}  // namespace gradus::speed
