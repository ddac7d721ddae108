#pragma once
// Sharded: an optimizer whose state is divided among the ranks (Rajbhandari et al. 2020, "ZeRO").
//
//   distributed::DataParallel parallel(world, gpt, {.shard_gradients = true});
//   distributed::Sharded<optim::AdamW> opt(parallel, gpt.parameters(), {.lr = 1e-3});
//   ...  opt.zero_grad();  parallel.backward(...);  opt.clip_grad_norm(1.0);  opt.step();
//
// Each rank updates its elements of every parameter and sends them to the others. With n ranks it holds 1/n
// of the optimizer's state (ZeRO-1) and, with shard_gradients, of the gradients (ZeRO-2): of the sums, while
// a rank with several shards adds up whole gradients. The bits are those of the same optimizer without
// Sharded.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tensor.h"
#include "gradus/distributed/data_parallel.h"
#include "gradus/optim/optimizer.h"
#include "gradus/optim/schedule.h"

namespace gradus::distributed {

/// What every Sharded has, whatever its optimizer. All calls but lr() and set_lr() are collective.
class ShardedOptimizer {
 public:
  virtual ~ShardedOptimizer();
  ShardedOptimizer(const ShardedOptimizer&) = delete;
  ShardedOptimizer& operator=(const ShardedOptimizer&) = delete;

  /// Updates this rank's elements of every parameter with a gradient, and gets the others from their ranks.
  /// Throws like the optimizer's.
  void step();
  /// Drops all gradients of the DataParallel.
  void zero_grad();
  /// Like optim::clip_grad_norm() for this optimizer's parameters, in the order of the model, with the same
  /// bits, also where each rank has only slices of the gradients.
  double clip_grad_norm(double max_norm);

  /// Updates done so far.
  std::int64_t steps() const { return inner_->steps(); }
  /// As of the optimizer.
  double lr(std::size_t group = 0) const { return inner_->lr(group); }
  void set_lr(const optim::Schedule& lr, std::optional<std::size_t> group = {}) { inner_->set_lr(lr, group); }

  /// The whole state, the same on every rank, in the optimizer's own format: any number of ranks can load it,
  /// and the optimizer without Sharded.
  StateDict state_dict() const;
  /// This rank's part of the state, for distributed::save_checkpoint(), which leaves it on this rank.
  /// `state.add_all("optimizer.", opt.pieces());`
  StateDict pieces() const;
  /// Restores this rank's part of such a state; throws, changing nothing, when a key, shape or count does not
  /// fit.
  void load_state_dict(const StateDict& dict);

 protected:
  /// Throws unless the parameters are among those of the DataParallel.
  ShardedOptimizer(DataParallel& parallel, const std::vector<optim::ParameterGroup>& groups);
  /// The same groups of this rank's slices: one leaf [elements] for each parameter, which shares its memory.
  const std::vector<optim::ParameterGroup>& slices() const { return slices_; }
  std::unique_ptr<optim::Optimizer> inner_;  // of the slices

 private:
  struct Part {
    std::size_t number;  // of the DataParallel
    Tensor slice;
  };
  void take_gradients();
  std::optional<double> sum_of_squares(const std::vector<std::size_t>& numbers) const;
  double norm_of_all(const std::vector<std::size_t>& numbers) const;

  DataParallel& parallel_;
  std::vector<optim::ParameterGroup> slices_;
  std::vector<Part> parts_;  // as the optimizer numbers its parameters
};

/// An optimizer of the library, or one derived from optim::Optimizer that has a type Options and a
/// constructor (groups, options). The DataParallel must outlive it. `distributed::Sharded<optim::AdamW>
/// opt(parallel, gpt.parameters(), {.lr = 1e-3});`
template <std::derived_from<optim::Optimizer> Base>
class Sharded : public ShardedOptimizer {
 public:
  Sharded(DataParallel& parallel, std::vector<Tensor> parameters, const typename Base::Options& options = {})
      : Sharded(parallel, std::vector<optim::ParameterGroup>{{.parameters = std::move(parameters)}},
                options) {}
  Sharded(DataParallel& parallel, const std::vector<optim::ParameterGroup>& groups,
          const typename Base::Options& options = {})
      : ShardedOptimizer(parallel, groups) {
    inner_ = std::make_unique<Base>(slices(), options);
  }
};

}  // namespace gradus::distributed
