#pragma once
// The mean of the last weights of a training, which translates better than any of them (Vaswani et al. 2017,
// section 6.1).

#include <cstdint>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/nn/module/module.h"

namespace gradus::translate {

class WeightAverage {
 public:
  /// The mean of the last `count` snapshots.
  WeightAverage(nn::Module model, std::int64_t count) : model_(std::move(model)), count_(count) {}

  /// Takes a snapshot of the weights.
  void take();
  std::int64_t size() const { return static_cast<std::int64_t>(taken_.size()); }

  /// While one lives, the model has the mean of the snapshots; afterwards its own weights again, unless the
  /// mean is kept.
  class Use {
   public:
    [[nodiscard]] explicit Use(const WeightAverage& average);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    void stay() { own_ = StateDict(); }

   private:
    const nn::Module& model_;
    StateDict own_;
  };

  StateDict state_dict() const;
  /// Throws if the state belongs to another model.
  void load_state_dict(const StateDict& state);

 private:
  nn::Module model_;
  std::int64_t count_;
  std::vector<StateDict> taken_;
};

}  // namespace gradus::translate
