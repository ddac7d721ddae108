#include "translate/average.h"

#include <string>

#include "gradus/gradus.h"

namespace gradus::translate {

void WeightAverage::take() {
  taken_.push_back(model_.state_dict().clone());
  if (size() > count_) taken_.erase(taken_.begin());
}

WeightAverage::Use::Use(const WeightAverage& average)
    : model_(average.model_), own_(average.model_.state_dict().clone()) {
  if (average.size() > 0) model_.load_state_dict(optim::average(average.taken_));
}

WeightAverage::Use::~Use() {
  if (own_.size() > 0) model_.load_state_dict(own_);
}

StateDict WeightAverage::state_dict() const {
  StateDict state;
  for (std::size_t i = 0; i < taken_.size(); ++i) state.add_all(std::to_string(i) + ".", taken_[i]);
  return state;
}

void WeightAverage::load_state_dict(const StateDict& state) {
  const StateDict own = model_.state_dict();
  const std::size_t count = state.size() / own.size();
  std::vector<StateDict> taken;
  for (std::size_t i = 0; i < count; ++i) {
    const StateDict weights = state.with_prefix_removed(std::to_string(i) + ".");
    for (const auto& [name, weight] : own)
      if (weights.at(name).shape() != weight.shape()) throw Error("is the average of another model");
    taken.push_back(weights.clone());
  }
  taken_ = std::move(taken);
}

}  // namespace gradus::translate
