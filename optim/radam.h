#pragma once
// RAdam: Adam that corrects for the variance of its average of squares (Liu et al. 2020, "On the variance of
// the adaptive learning rate and beyond").

#include <utility>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct RAdamOptions {
  Schedule lr = 1e-3;                              // the learning rate: a number or a schedule
  std::pair<double, double> betas = {0.9, 0.999};  // of the averages of the gradient and its square
  double eps = 1e-8;                               // at least 1.2e-38
  double weight_decay = 0;                         // adds weight_decay * w to the gradient
};

/// m and v as in Adam. rho = n - 2 t b2^t / (1 - b2^t), with n = 2 / (1 - b2) - 1, is the effective number of
/// gradients averaged in v. Up to rho = 5, w -= lr mhat, SGD with momentum; above, w -= lr r mhat
/// sqrt(1 - b2^t) / (sqrt(v) + eps), with r = sqrt((rho - 4) (rho - 2) n / ((n - 4) (n - 2) rho)), which
/// grows toward 1: a built-in warm-up. (5 is PyTorch's; the paper has 4.)
/// `optim::RAdam opt(model.parameters(), {.lr = 1e-3});`
class RAdam : public Optimizer {
 public:
  using Options = RAdamOptions;  // for templates over optimizers
  explicit RAdam(std::vector<Tensor> parameters, RAdamOptions options = {});
  explicit RAdam(std::vector<ParameterGroup> groups, RAdamOptions options = {});
  RAdam(const auto&, BoolOrFloat auto) = delete;  // optim::RAdam opt(model.parameters(), {.lr = 1e-3});

 protected:
  void update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
              std::int64_t end) const override;

 private:
  std::pair<double, double> betas_;
  double eps_;
};

}  // namespace gradus::optim
