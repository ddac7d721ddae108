#pragma once
// A training program on many ranks: `mpirun -n 4 char_gpt --shards 8 ...`. All ranks train; rank 0 alone
// prints, and writes files.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gradus/distributed/data_parallel.h"
#include "gradus/distributed/session.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/training_run.h"

namespace gradus::ranks {

/// kit::run_program() for the ranks of this program.
inline int run_program(std::string_view name, int argc, char** argv,
                       const std::function<int(const distributed::Communicator&)>& work) {
  return kit::run_program(name, [&] {
    distributed::Session session(argc, argv);
    return session.run([&](const distributed::Communicator& world) {
      if (world.rank() > 0) kit::be_silent();
      const int status = work(world);
      world.set_timeout(1e9);  // rank 0 evaluates and writes after the training, for as long as it takes
      return status;
    });
  });
}

/// The options of the training for this rank, and --shards among its settings.
inline kit::TrainingOptions of_rank(const distributed::Communicator& world, std::int64_t shards,
                                    kit::TrainingOptions options) {
  if (shards > 0) options.settings["--shards"] = std::to_string(shards);
  if (world.size() == 1) return options;
  options.writes = world.rank() == 0;
  options.any = [world](bool here) {
    const Tensor count = tensor(std::int64_t{here});
    world.all_reduce(count);
    return count.item<std::int64_t>() > 0;
  };
  return options;
}

/// Computes a batch's gradients: at once, as without ranks, or by all ranks in `shards` parts.
class Backward {
 public:
  /// `shards` of 0: at once. Throws with several ranks then, since the results depend on it.
  Backward(const distributed::Communicator& world, const nn::Module& model, std::int64_t shards,
           std::int64_t seed) {
    if (shards > 0)
      parallel_.emplace(world, model,
                        distributed::DataParallelOptions{.shards = static_cast<int>(shards),
                                                         .seed = static_cast<std::uint64_t>(seed)});
    else if (world.size() > 1)
      throw distributed::CommonError(
          "--shards: expects 1, 2, 4, 8, ..., at least the number of ranks: results depend on it, and "
          "not on the ranks");
  }

  /// Adds the gradients of loss(shard), summed over the shards of a batch of `rows` rows; returns the loss.
  double operator()(std::int64_t rows,
                    const std::function<distributed::ShardLoss(const distributed::Shard&)>& loss) {
    if (parallel_) return parallel_->backward(rows, loss);
    const distributed::Shard all{.end = rows, .batch_rows = rows, .rank_end = rows};
    const Tensor whole = loss(all).loss;
    whole.backward();
    return whole.item();
  }

  /// How many batches there were, for TrainingRun::keep().
  StateDict state_dict() const { return parallel_ ? parallel_->state_dict() : StateDict(); }
  void load_state_dict(const StateDict& state) {
    if (parallel_) parallel_->load_state_dict(state);
  }

 private:
  std::optional<distributed::DataParallel> parallel_;
};

}  // namespace gradus::ranks
