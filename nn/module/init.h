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
/// N(mean, std^2) truncated to [low, high], which must not be too far from the mean.
Tensor trunc_normal_(const Tensor& w, double mean = 0, double std = 1, double low = -2, double high = 2,
                     Generator& generator = default_generator());

/// U(-a, a), a = gain sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010, eq. 16)
Tensor xavier_uniform_(const Tensor& w, double gain = 1, Generator& generator = default_generator());
/// N(0, s^2), s = gain sqrt(2 / (fan_in + fan_out))
Tensor xavier_normal_(const Tensor& w, double gain = 1, Generator& generator = default_generator());

/// The function that follows the weights; it determines the gain.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu };
/// The gain of the weights before a nonlinearity: 1, 1, 5/3, sqrt(2), sqrt(2 / (1 + a^2)). The default slope
/// `a` of leaky_relu is 0.01, as in PyTorch; the functions below pass their own, 0 by default.
double gain(Nonlinearity nonlinearity, double a = 0.01);

/// Whether a product keeps the variance of its input (fan in) or of the gradients (fan out).
enum class Fan { in, out };
struct KaimingOptions {
  double a = 0;                                          // negative slope of leaky_relu
  Fan mode = Fan::in;                                    // which variance is kept
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;  // the function that follows
};
/// U(-b, b), b = gain sqrt(3 / fan) (He et al. 2015)
Tensor kaiming_uniform_(const Tensor& w, const KaimingOptions& options = {},
                        Generator& generator = default_generator());
/// N(0, s^2), s = gain / sqrt(fan)
Tensor kaiming_normal_(const Tensor& w, const KaimingOptions& options = {},
                       Generator& generator = default_generator());

struct Gpt2Options {
  double std = 0.02;  // of all matrices
  /// L > 0: in each of L blocks the two projections back into the residual stream (out_proj.weight and
  /// linear2.weight) get N(0, (std / sqrt(2 L))^2), so that the size of the stream after the last block does
  /// not depend on L.
  std::int64_t residual_layers = 0;
};
/// GPT-2's scheme for a whole model: matrices N(0, std^2), biases 0, norms 1, and the scaling of section 2.3
/// of Radford et al. 2019 in its usual reading. (In their code the position embedding has half this std.)
/// Applies to the library's layers, known by their kind() ("Linear" for nn::Linear); parameters of other
/// modules keep the values from their constructors.
void gpt2_(const Module& model, const Gpt2Options& options = {}, Generator& generator = default_generator());

}  // namespace gradus::nn::init
