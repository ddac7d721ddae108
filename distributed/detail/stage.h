#pragma once
// What a Pipeline has on its rank.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradus/distributed/detail/names.h"
#include "gradus/distributed/model_parallel/pipeline.h"

namespace gradus::distributed {

struct Pipeline::State {
  /// Two parameters with the same values, of which this rank has one, both or none.
  struct Tie {
    std::string copy, original;
    int copy_rank = 0, original_rank = 0;
  };

  Communicator world;
  PipelineOptions options;
  std::uint64_t seed = 0;
  int first = 0, all = 0;  // this stage's first layer; how many there are on all ranks
  nn::Module stage = nn::Module("Stage");
  std::vector<nn::AnyModule<Tensor(const Tensor&)>> layers = {};
  std::optional<nn::AnyModule<ShardLoss(const Tensor&, const Tensor&)>> loss = {};  // on the last rank
  std::vector<detail::NameOnRanks> names = {};  // of the tensors of all ranks
  std::vector<Tie> ties = {};
  std::int64_t steps = 0;

  bool is_first() const { return world.rank() == 0; }
  bool is_last() const { return world.rank() + 1 == world.size(); }
  /// Whether the other parameter of a tie is the one that counts.
  bool is_copy(const std::string& name) const {
    return std::any_of(ties.begin(), ties.end(), [&](const Tie& tie) { return tie.copy == name; });
  }
};

namespace detail {

/// Messages between stages have tags that programs rarely use.
inline constexpr int kForwardTag = 2045, kBackwardTag = 2046, kTiedTag = 2047;

}  // namespace detail

}  // namespace gradus::distributed
