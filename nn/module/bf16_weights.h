#pragma once
// Models whose weights are kept in bf16.

#include "gradus/core/cxx20.h"

namespace gradus::nn {

/// While one exists, modules made on this thread keep their weights, parameters of two axes or more, in bf16,
/// at half the memory. All their parameters are frozen: such a model is for inference, as in generating text.
/// `std::optional<nn::GPT> model; { const nn::Bf16Weights guard; model.emplace(options); }`
///
/// A product with such a weight rounds the other operand to bf16 and sums in f32 (see Autocast); embeddings,
/// positions, norms, biases and keys and values are computed in f32. load_state_dict rounds.
class [[nodiscard]] Bf16Weights {
 public:
  [[nodiscard]] Bf16Weights() : before_(on_) { on_ = true; }
  ~Bf16Weights() { on_ = before_; }
  Bf16Weights(const Bf16Weights&) = delete;
  Bf16Weights& operator=(const Bf16Weights&) = delete;

  static bool on() { return on_; }

 private:
  static inline thread_local bool on_ = false;
  bool before_;
};

}  // namespace gradus::nn
