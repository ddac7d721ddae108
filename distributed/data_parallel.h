#pragma once
// DataParallel: one batch, many ranks, and the bits of one.
//
//   distributed::DataParallel parallel(world, gpt, {.shards = 8});                    // before the loop
//   const double loss = parallel.backward(x.size(0), [&](const distributed::Shard& shard) {
//     return gpt.loss(shard(x), shard(y));
//   });
//
// backward() takes the place of the loss's. A batch is always cut into the same shards, for any number of
// ranks: with 8 shards, rank 2 of 4 computes shards 4 and 5. Random numbers, such as dropout's, depend on
// seed, step and shard. Gradients are summed in one binary tree over the shards, the lower levels inside a
// rank, the upper ones between ranks. So all weights are the same for 1, 2, 4 and 8 ranks, bit for bit, with
// any number of threads. docs/many_machines.md explains it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tensor.h"
#include "gradus/data/loader.h"
#include "gradus/distributed/communicator.h"
#include "gradus/nn/module/module.h"

namespace gradus::distributed {

namespace detail {
class Gradients;
}

struct DataParallelOptions {
  /// Into how many parts each batch is cut: a power of two, at least the number of ranks. Results depend on
  /// it, not on the ranks. A rank computes its shards one after another, in the memory of one: more shards
  /// are gradient accumulation.
  int shards = 8;
  /// Of the shards' random numbers. Not given: taken from default_generator(), which must be at the same
  /// place on all ranks. `.seed = 7`
  std::optional<std::uint64_t> seed = {};
  std::int64_t bucket_bytes = 25 << 20;  // gradients are sent in buckets of about this size
  /// Each rank keeps only its part of the gradients, for a Sharded optimizer (ZeRO-2): grad() stays
  /// undefined.
  bool shard_gradients = false;
};

/// Rows begin .. end - 1 of a batch, shard `index` of `count`.
struct Shard {
  int index = 0, count = 1;
  std::int64_t begin = 0, end = 0;
  std::int64_t batch_rows = 0;                       // of all shards
  std::int64_t rank_begin = 0, rank_end = 0;         // the rows of this rank's shards
  std::int64_t rows() const { return end - begin; }  // how many
  /// This shard's rows of a tensor [batch_rows, ...], or of one with this rank's rows only, as from a
  /// DataLoader with a share: `shard(x)`
  Tensor operator()(const Tensor& batch) const;
};

/// What a shard's loss is a mean or a sum of: the loss of the batch is the sum over all shards divided by the
/// counts of all. For example of targets that are not padding:
/// `return distributed::Mean{model.loss(shard(x), shard(y)), (shard(y) != pad).to(i64).sum().item()};`
struct Mean {
  Tensor loss;       // [], over `count` terms
  double count = 0;  // 0 or more
};
struct Sum {
  Tensor loss;       // [], of `count` terms
  double count = 0;  // 0 or more
};

/// The loss of one shard: a Mean, a Sum, or a tensor [], which is a mean over the shard's rows.
class ShardLoss {
 public:
  ShardLoss(Tensor mean) : loss(std::move(mean)) {}
  ShardLoss(Mean mean) : loss(std::move(mean.loss)), count(mean.count) {}
  ShardLoss(Sum sum) : loss(std::move(sum.loss)), count(sum.count), is_sum(true) {}

  Tensor loss;
  std::optional<double> count = {};  // not given: the shard's rows
  bool is_sum = false;               // not a mean
};

/// Computes the gradients of a batch on all ranks together.
class DataParallel {
 public:
  /// Every rank builds the same model, from the same seed or file; throws, naming the first tensor that
  /// differs, if they did not. Throws unless shards is a power of two and at least the number of ranks.
  /// Parameters that are frozen now stay out; freezing others later is fine.
  DataParallel(Communicator world, const nn::Module& model, const DataParallelOptions& options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// Calls loss(shard) for each of this rank's shards of a batch of `rows` rows, which is the same on all
  /// ranks, and backward for the result; adds the gradient of the loss of the whole batch to every
  /// parameter's grad(), on all ranks, and returns that loss. Shard k begins at row ceil(k rows / shards);
  /// one without rows is not computed. default_generator() serves the shards and is afterwards where it was.
  /// Buffers that the model changes, such as BatchNorm's statistics, become the mean over the shards.
  double backward(std::int64_t rows, const std::function<ShardLoss(const Shard& shard)>& loss);

  const Communicator& world() const;  // the ranks
  int shards() const;                 // the option
  /// The shards of this rank, for a DataLoader that makes only their rows:
  /// `data::DataLoader loader({x, y}, {.batch_size = 32, .shuffle = true, .share = parallel.share()});`
  data::Share share() const;
  /// How many times backward() was called.
  std::int64_t steps() const;

  /// Steps, shards and seed, for a checkpoint.
  StateDict state_dict() const;
  /// Throws, changing nothing, when the state is not of a DataParallel, or of one with other shards.
  void load_state_dict(const StateDict& dict);

  /// For Sharded.
  detail::Gradients& gradients() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gradus::distributed
