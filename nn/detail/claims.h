#pragma once
// Claims: the parameters an optimizer knows. A module that was never added, or added too late, computes and
// gets gradients, but nothing trains its parameters: this check detects that.

#include "gradus/core/tensor.h"

namespace gradus::nn {

/// Marks the tensor as a module's parameter: backward passes are then searched for it.
void mark_parameter(const Tensor& leaf);
bool is_parameter(const Tensor& leaf);

/// Marks a parameter returned by parameters(): the caller is responsible for it.
void mark_claimed(const Tensor& leaf);
/// While one exists, calling parameters() on this thread claims none: for setting initial values.
class [[nodiscard]] NoClaims {
 public:
  [[nodiscard]] NoClaims();
  ~NoClaims();
  NoClaims(const NoClaims&) = delete;
  NoClaims& operator=(const NoClaims&) = delete;

 private:
  bool before_;
};

/// Marks a parameter given to an optimizer.
void mark_trained(const Tensor& leaf);
bool is_trained(const Tensor& leaf);

/// Throws, with the remedy, when unclaimed parameters received a gradient on this thread together with
/// claimed ones; then forgets them. Optimizers call it.
void check_unclaimed_parameters(const char* caller);

}  // namespace gradus::nn
