#pragma once
// Initial values. Each function overwrites a tensor in place (no tape) and returns it; names, formulas and
// defaults are PyTorch's (gain is its calculate_gain). The fans of a weight [out, in, a, b] are
// fan_in = in a b and fan_out = out a b.
//
//   nn::init::xavier_uniform_(layer.weight);
//   model.apply([](const nn::Module& m) {
//     if (m.kind() == "Linear") nn::init::normal_(m.parameter("weight"), 0, 0.02);
//   });

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/nn/module/module.h"

namespace gradus::nn::init {

/// Fills w with zeros, ones or one value.
Tensor zeros_(const Tensor& w);
Tensor ones_(const Tensor& w);
Tensor constant_(const Tensor& w, double value);
/// U(low, high)
Tensor uniform_(const Tensor& w, double low = 0, double high = 1, Generator& generator = default_generator());
/// N(mean, std^2)
Tensor normal_(const Tensor& w, double mean = 0, double std = 1, Generator& generator = default_generator());
/// N(mean, std^2) limited to [low, high], which must hold some of its mass.
Tensor trunc_normal_(const Tensor& w, double mean = 0, double std = 1, double low = -2, double high = 2,
                     Generator& generator = default_generator());

/// U(-a, a), a = gain sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010, eq. 16)
Tensor xavier_uniform_(const Tensor& w, double gain = 1, Generator& generator = default_generator());
/// N(0, s^2), s = gain sqrt(2 / (fan_in + fan_out))
Tensor xavier_normal_(const Tensor& w, double gain = 1, Generator& generator = default_generator());

/// What follows the weights: it says by how much they may be larger.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu };
/// How much larger the weights before a nonlinearity may be: 1, 1, 5/3, sqrt(2), sqrt(2 / (1 + a^2)). Without
/// an `a` leaky_relu's slope is 0.01, as in PyTorch; the functions below give theirs, 0 unless set.
double gain(Nonlinearity nonlinearity, double a = 0.01);

/// Whether a product is to keep the size of what goes in (fan in) or of gradients that come back (fan out).
enum class Fan { in, out };
struct KaimingOptions {
  double a = 0;                                          // negative slope of leaky_relu
  Fan mode = Fan::in;                                    // which size is kept
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;  // that follows
};
/// U(-b, b), b = gain sqrt(3 / fan) (He et al. 2015)
Tensor kaiming_uniform_(const Tensor& w, const KaimingOptions& options = {},
                        Generator& generator = default_generator());
/// N(0, s^2), s = gain / sqrt(fan)
Tensor kaiming_normal_(const Tensor& w, const KaimingOptions& options = {},
                       Generator& generator = default_generator());

struct Gpt2Options {
  double std = 0.02;  // of all matrices
  /// L > 0: the two projections back into the residual stream of each of L blocks (out_proj.weight and
  /// linear2.weight) get N(0, (std / sqrt(2 L))^2), so that the stream after the last block is as large for
  /// any L.
  std::int64_t residual_layers = 0;
};
/// GPT-2's scheme for a whole model: matrices N(0, std^2), biases 0, norms 1, and the scaling of section 2.3
/// of Radford et al. 2019 in its usual reading. (In their code the position embedding has half this std.)
/// These are the library's layers (known by their kind(), nn::Linear is "Linear"); parameters that other
/// modules own, or add to these, stay as their constructors made them.
void gpt2_(const Module& model, const Gpt2Options& options = {}, Generator& generator = default_generator());

}  // namespace gradus::nn::init
