#pragma once
// Small trainings whose results must not depend on the number of ranks and threads: for ranks as threads
// (data_parallel_test.cpp, sharded_test.cpp) and as processes of MPI (program.cpp).

#include <string>
#include <string_view>
#include <vector>

#include "gradus/distributed/communicator.h"

namespace gradus::test {

/// Of every bit of weights and buffers, of the optimizer's state, of all losses: SHA-256 in hexadecimal.
struct TrainingHashes {
  std::string weights, optimizer, losses;
  bool operator==(const TrainingHashes&) const = default;
};

/// gpt: dropout, clipping, AdamW, tied head, shards of different sizes. gpt-sharded, gpt-sliced: the same
/// with a Sharded optimizer, without and with shard_gradients. t5: padding, a loss over all tokens of the
/// batch. batch-norm: running statistics, SGD with momentum. accumulation: two batches to a step. ema:
/// averaged weights. pipeline: a GPT in stages, with dropout, clipping and a tied head. vocab-parallel:
/// embedding and tied head divided by vocabulary, with dropout and clipping.
const std::vector<std::string>& training_cases();

/// Throws unless all ranks have the same result.
TrainingHashes train_case(std::string_view name, const distributed::Communicator& world, int steps);

/// Trains to this many steps, from the folder's newest checkpoint on, with one after each `every` steps.
/// Returns the hashes of weights and optimizer.
std::string resumable_training(const distributed::Communicator& world, const std::string& folder, int steps,
                               int every);

}  // namespace gradus::test
