#pragma once
// Admin (Liu et al. 2020, arXiv 2004.08249): Post-LN whose shortcut is as large as all branches before it,
// measured on one batch before training.

#include <cstdint>
#include <functional>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// LN(x w + f(x)), w a parameter [C] on the shortcut: ones, until profile_admin_() sets it.
struct Admin : Module {
  explicit Admin(const BlockOptions& options);
  Tensor operator()(const Tensor& x, const Branch& f) const {
    const Tensor y = f(x);
    profile(x, y);
    return norm(x * shortcut + y);
  }
  Norm norm;           // of the sum
  Parameter shortcut;  // w [C]

 private:
  /// Within profile_admin_(): sets the shortcut, and adds Var[f(x)] to what those above will get.
  void profile(const Tensor& x, const Tensor& y) const;
};

/// Blocks of two Admins (decoders: three): `.placement = nn::admin()`.
Placement admin();

/// Admin's initial shortcuts: forward() runs the model once on a batch, and the i-th connection of each stack
/// gets w^2 = Var[x_0] + sum over j < i of Var[f_j], the first one 1. Returns how many there are: none in a
/// model without Admin, which stays as it is. Throws at a second pass within forward(): one of another batch
/// or model, or a generate(). Before training, for any model:
/// `nn::profile_admin_([&] { gpt.loss(ids, targets); });`
std::int64_t profile_admin_(const std::function<void()>& forward);

}  // namespace gradus::nn
