#pragma once
// RMSprop (Hinton 2012, lecture 6e of his course; in PyTorch's form).

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct RMSpropOptions {
  Schedule lr = 1e-2;       // the learning rate: a number or a schedule
  double alpha = 0.99;      // of the average of squares
  double eps = 1e-8;        // at least 1.2e-38
  double weight_decay = 0;  // adds weight_decay * w to the gradient
  double momentum = 0;      // as in SGD
  bool centered = false;    // divides by the standard deviation: replaces v by v - (average of g)^2
};

/// g += weight_decay w; v = alpha v + (1 - alpha) g^2; u = g / (sqrt(v) + eps); w -= lr u, or with momentum
/// b = momentum b + u, w -= lr b. `optim::RMSprop opt(model.parameters(), {.lr = 1e-3, .momentum = 0.9});`
class RMSprop : public Optimizer {
 public:
  using Options = RMSpropOptions;  // for templates over optimizers
  explicit RMSprop(std::vector<Tensor> parameters, RMSpropOptions options = {});
  explicit RMSprop(std::vector<ParameterGroup> groups, RMSpropOptions options = {});
  RMSprop(const auto&, BoolOrFloat auto) = delete;  // optim::RMSprop opt(model.parameters(), {.lr = 1e-3});

 protected:
  void update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
              std::int64_t end) const override;

 private:
  double alpha_, eps_, momentum_;
  bool centered_;
};

}  // namespace gradus::optim
