#pragma once
// Stochastic gradient descent, with momentum (Sutskever et al. 2013, in PyTorch's form).

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct SGDOptions {
  Schedule lr = 1e-3;       // the learning rate: a number or a schedule
  double momentum = 0;      // the factor of the previous b
  double dampening = 0;     // reduces the factor of g: see SGD
  bool nesterov = false;    // Nesterov momentum: see SGD
  double weight_decay = 0;  // adds weight_decay * w to the gradient
};

/// g += weight_decay w; b = momentum b + (1 - dampening) g (b = g in the first step); w -= lr b, or with
/// Nesterov w -= lr (g + momentum b). `optim::SGD opt(model.parameters(), {.lr = 0.1, .momentum = 0.9});`
class SGD : public Optimizer {
 public:
  using Options = SGDOptions;  // for templates over optimizers
  explicit SGD(std::vector<Tensor> parameters, SGDOptions options = {});
  explicit SGD(std::vector<ParameterGroup> groups, SGDOptions options = {});
  SGD(const auto&, BoolOrFloat auto) = delete;  // optim::SGD opt(model.parameters(), {.lr = 1e-3});

 protected:
  void update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
              std::int64_t end) const override;

 private:
  double momentum_, dampening_;
  bool nesterov_;
};

}  // namespace gradus::optim
