#pragma once
// Gradients: sums the gradients of all shards, inside this rank by ShardSums, then over the ranks by a
// TreeOperation for each bucket, which begins while the last shard's backward still runs.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gradus/distributed/communicator.h"
#include "gradus/distributed/detail/layout.h"
#include "gradus/distributed/detail/shard_sums.h"
#include "gradus/distributed/detail/tree.h"

namespace gradus::distributed::detail {

class Gradients {
 public:
  /// With `sliced`, each rank keeps only the sums of its slices.
  Gradients(Communicator world, std::vector<Tensor> parameters, std::int64_t bucket_bytes, bool sliced);

  const Communicator& world() const { return world_; }
  const std::vector<Tensor>& parameters() const { return parameters_; }
  const Layout& layout() const { return layout_; }
  bool sliced() const { return sliced_; }
  /// The parameter's number, if it is one of these.
  std::optional<std::size_t> number_of(const Node* leaf) const;

  /// The gradient of this rank's elements of a parameter, [layout().own(i, rank)], a view; undefined when no
  /// shard had one.
  Array own(std::size_t i) const;
  /// Drops all gradients, whole and sliced.
  void zero();
  /// Of arrays [numel of parameter i], each rank has filled its own elements: fills the others. All are
  /// defined or undefined as on all other ranks.
  void share(const std::vector<Array>& flat) const;

 private:
  friend class GradientStep;
  Communicator world_;
  std::vector<Tensor> parameters_;
  std::unordered_map<const Node*, std::size_t> numbers_;
  Layout layout_;
  bool sliced_;
  std::vector<Array> slices_;  // with sliced_, of each bucket; undefined before the first step
  std::vector<bool> used_;     // with sliced_, whether the parameter has a gradient
};

/// One call of DataParallel::backward. If it is not finished, parameters get back the gradients they had.
class GradientStep {
 public:
  /// Divides a finished slice by the weight of the batch, or returns false when that is not known yet.
  using Finish = std::function<bool(const Array& slice)>;

  explicit GradientStep(Gradients& all);
  ~GradientStep();
  GradientStep(const GradientStep&) = delete;
  GradientStep& operator=(const GradientStep&) = delete;

  /// Takes the gradients of a shard that is not this rank's last.
  void end_shard();
  /// From now on, gradients of the last shard arrive.
  void begin_last(Finish finish);
  void arrive(Node& leaf);
  /// Waits for all sums and gives them to the parameters.
  void finish();

 private:
  struct Sum {
    Call call;
    Array flat = {};          // the bucket
    std::size_t missing = 0;  // parameters
    std::unique_ptr<TreeOperation> operation = {};
    Array own = {};  // of a sliced one, when it is done
  };
  class AllSums;
  void put(std::size_t i, Array last);
  void take_slice(std::size_t bucket);
  bool poll();

  Gradients& all_;
  std::vector<Array> before_;  // what the parameters had: this step adds to it
  ShardSums shards_;
  Finish finish_;
  std::vector<Sum> sums_;      // of each bucket
  std::vector<bool> arrived_;  // of each parameter, in the last shard
  Tensor used_;                // [parameters] f64: in how many shards it had a gradient
  bool finished_ = false;
};

}  // namespace gradus::distributed::detail
