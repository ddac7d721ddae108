#pragma once
// Which parameters an optimizer knows. A module that was never added, or added too late, computes
// and gets gradients, but nothing trains its parameters: here that is noticed.

#include "gradus/core/tensor.h"

namespace gradus::nn {

/// From now on the tensor is a module's parameter: backward passes are looked at for it.
void mark_parameter(const Tensor& leaf);
bool is_parameter(const Tensor& leaf);

/// Somebody has it who will see to it: who called parameters() before there was an optimizer.
void mark_claimed(const Tensor& leaf);
/// While one lives, asking for parameters on this thread claims none: initial values are set, nothing is
/// trained.
class [[nodiscard]] NoClaims {
 public:
  [[nodiscard]] NoClaims();
  ~NoClaims();
  NoClaims(const NoClaims&) = delete;
  NoClaims& operator=(const NoClaims&) = delete;

 private:
  bool before_;
};

/// An optimizer has it, or had.
void mark_trained(const Tensor& leaf);
bool is_trained(const Tensor& leaf);

/// Throws, with the remedy, when parameters received a gradient on this thread beside others and nobody has
/// claimed them; then forgets them. Called by optimizers.
void check_unclaimed_parameters(const char* caller);

}  // namespace gradus::nn
