#pragma once
#include <optional>

#include "gradus/nn/layers/dropout.h"
#include "gradus/nn/layers/linear.h"

namespace gradus::nn {

struct FFNOptions {
  std::int64_t d_model = 0;                  // C
  std::int64_t d_ff = 0;                     // F, the hidden size; 0 means 4 d_model
  Activation activation = Activation::relu;  // between the two products
  bool gated = false;                        // with silu: SwiGLU, with gelu: GEGLU, with relu: ReGLU
  double dropout = 0;                        // on the hidden layer, in training
  bool bias = true;                          // of all products
};

/// The position-wise feed-forward network, x [..., C] -> [..., C] (Vaswani et al. 2017, section 3.3):
///   linear2(act(linear1(x)))
/// or, gated (Shazeer 2020, "GLU variants improve transformer"),
///   linear2(act(linear1(x)) * linear3(x))
struct FFN : Module {
  explicit FFN(const FFNOptions& options);
  Tensor operator()(const Tensor& x) const;

  Linear linear1;                 // C -> F
  Linear linear2;                 // F -> C
  std::optional<Linear> linear3;  // C -> F; only when gated
  Dropout dropout;                // after the activation

 private:
  Activation activation_;
};

}  // namespace gradus::nn
