#pragma once
// Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019).

#include <utility>

#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct AdamOptions {
  Schedule lr = 1e-3;                              // the learning rate: a number or a schedule
  std::pair<double, double> betas = {0.9, 0.999};  // of the averages of the gradient and its square
  double eps = 1e-8;                               // at least 1.2e-38
  double weight_decay = 0;                         // adds weight_decay * w to the gradient
};

struct AdamWOptions {
  Schedule lr = 1e-3;                              // the learning rate: a number or a schedule
  std::pair<double, double> betas = {0.9, 0.999};  // of the averages of the gradient and its square
  double eps = 1e-8;                               // at least 1.2e-38
  double weight_decay = 0.01;                      // acts on the weight: w -= lr * weight_decay * w
};

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, w -= lr mhat / (sqrt(vhat) + eps), where
/// mhat = m / (1 - b1^t) and vhat = v / (1 - b2^t) correct the bias of the start at zero. A gradient whose
/// square overflows (f32: above 1e19) makes v inf, and that element of w never changes again, as in PyTorch:
/// clip the gradients. With an eps above 1e-10 (of f32, if b2 is 0.999) averages below the normal numbers,
/// 1.2e-38, become 0: CPUs are slow with smaller ones, and next to eps they do not count.
/// `optim::Adam opt(model.parameters(), {.lr = optim::warmup_linear(3e-4, 400)});`
class Adam : public Optimizer {
 public:
  using Options = AdamOptions;  // for templates over optimizers
  explicit Adam(std::vector<Tensor> parameters, AdamOptions options = {});
  explicit Adam(std::vector<ParameterGroup> groups, AdamOptions options = {});
  Adam(const auto&, BoolOrFloat auto) = delete;  // optim::Adam opt(model.parameters(), {.lr = 1e-3});

 protected:
  Adam(const char* name, std::vector<ParameterGroup> groups, const AdamOptions& options, bool decoupled);
  void update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
              std::int64_t end) const override;

 private:
  std::pair<double, double> betas_;
  double eps_;
  bool decoupled_;
};

/// Adam whose weight decay acts on the weight itself, not through the gradient.
class AdamW : public Adam {
 public:
  using Options = AdamWOptions;  // for templates over optimizers
  explicit AdamW(std::vector<Tensor> parameters, AdamWOptions options = {});
  explicit AdamW(std::vector<ParameterGroup> groups, AdamWOptions options = {});
  AdamW(const auto&, BoolOrFloat auto) = delete;  // optim::AdamW opt(model.parameters(), {.lr = 1e-3});
};

}  // namespace gradus::optim
