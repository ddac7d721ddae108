#pragma once
// A number on the shortcut or on the branch f, in a stack of L blocks:
//
//   ReZero      x + a f(x)          a trained, 0 at the start     Bachlechner et al. 2020, arXiv 2003.04887
//   LN-Scaling  x + f(LN(x) / √l)   l the block's number, from 1  Sun et al. 2025, arXiv 2502.05795
//   Admin       LN(x w + f(x))      w trained, measured at first  Liu et al. 2020, arXiv 2004.08249
//   DeepNorm    LN(a x + f(x))      a = (2L)^(1/4)                Wang et al. 2022, arXiv 2203.00555
//   Keel        LN(a x + f(LN(x)))  a = 2L                        Chen & Wei 2026, arXiv 2601.19895

#include <cmath>
#include <cstdint>
#include <functional>

#include "gradus/nn/transformer/placement.h"

namespace gradus::nn {

/// x + a f(x), a a trained number, 0 at the start. (In the authors' code the branches of a block share one.)
struct ReZero : Module {
  explicit ReZero(const BlockOptions&) : alpha(parameter("alpha", zeros({}))) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + alpha * f(x); }
  Parameter alpha;  // a
};

/// x + f(LN(x) / sqrt(l)), l the number of the block, from 1. (The paper omits GPT-2's smaller initial
/// projections with it: GPTOptions::residual_init_scaling.)
struct ScaledPreLN : Module {
  explicit ScaledPreLN(const BlockOptions& options)
      : norm(add("", options.new_norm())), scale_(1 / std::sqrt(static_cast<double>(options.layer + 1))) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return x + f(norm(x) * scale_); }
  Norm norm;  // before the branch

 private:
  double scale_;
};

/// LN(x w + f(x)), w a parameter [C] on the shortcut: ones, until prepare_() sets it.
struct Admin : Module {
  explicit Admin(const BlockOptions& options)
      : norm(add("", options.new_norm())), shortcut(parameter("shortcut", ones({options.d_model}))) {}
  Tensor operator()(const Tensor& x, const Branch& f) const {
    const Tensor y = f(x);
    profile(x, y);
    return norm(x * shortcut + y);
  }
  Norm norm;           // of the sum
  Parameter shortcut;  // w [C]

 private:
  /// Within profile_admin_(): sets the shortcut, and adds Var[f(x)] to the sum for the connections above.
  void profile(const Tensor& x, const Tensor& y) const;
};

/// LN(alpha x + f(x)); alpha, where not given, is (2N)^(1/4) for a stack of N blocks.
struct DeepNorm : Module {
  explicit DeepNorm(const BlockOptions& options)
      : DeepNorm(options, std::pow(2 * static_cast<double>(options.layers), 0.25)) {}
  DeepNorm(const BlockOptions& options, double alpha) : norm(add("", options.new_norm())), alpha_(alpha) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return norm(alpha_ * x + f(x)); }
  Norm norm;  // of the sum

 private:
  double alpha_;
};

/// LN(a x + f(LN(x))), a the number of branches in the stack, 2L.
struct Keel : Module {
  explicit Keel(const BlockOptions& options)
      : in(add("in", options.new_norm())),
        out(add("out", options.new_norm())),
        alpha_(2 * static_cast<double>(options.layers)) {}
  Tensor operator()(const Tensor& x, const Branch& f) const { return out(alpha_ * x + f(in(x))); }
  Norm in, out;  // before the branch, and of the sum

 private:
  double alpha_;
};

/// Blocks of ReZero, without norms: `.placement = nn::rezero()`.
Placement rezero();
/// Blocks of ScaledPreLN and a final norm: `.placement = nn::ln_scaling()`.
Placement ln_scaling();
/// Blocks of two Admins (decoders: three): `.placement = nn::admin()`; then prepare_(), before training.
Placement admin();
/// For encoders and GPTs; the paper has no decoders with memory.
Placement keel();

/// For a model of one stack, encoder or GPT, of N blocks: alpha = (2N)^(1/4). Initial weights of the FFN and
/// of the values' and output projections are Xavier normal with gain beta = (8N)^(-1/4), of queries and keys
/// with gain 1 (figure 2 of the paper).
Placement deep_norm();

/// The sizes of the two stacks of a model with encoder and decoder.
struct DeepNormOptions {
  std::int64_t encoder_layers = 0;  // N
  std::int64_t decoder_layers = 0;  // M
};
/// For both stacks of such a model: alpha = 0.81 (N^4 M)^(1/16), beta = 0.87 (N^4 M)^(-1/16) in the encoder,
/// alpha = (3M)^(1/4), beta = (12M)^(-1/4) in the decoder. A stack of another size throws.
Placement deep_norm(const DeepNormOptions& options);

namespace detail {
void set_deep_norm_weights_(const Module& stack, double beta);
}

/// Admin's initial shortcuts, for models of any kind; prepare_() calls it where the placement is Admin.
/// forward() runs the model once on a batch, and the i-th connection of each stack gets
/// w^2 = Var[x_0] + sum over j < i of Var[f_j], x_0 the input of the stack; the first one gets 1. The
/// authors' code measures Var[x w] + Var[f] instead, which is the same if the norm returns a variance of 1.
/// Returns how many there are: none in a model without Admin, which stays as it is. Throws at a second pass
/// within forward(): one of another batch or model, or a generate().
///
/// `nn::profile_admin_([&] { gpt.loss(ids, targets); });`
std::int64_t profile_admin_(const std::function<void()>& forward);

}  // namespace gradus::nn
