#include "gradus/nn/module/init.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gradus/core/array/detail/element.h"
#include "gradus/nn/detail/no_random_init.h"

namespace gradus::nn::init {

namespace {

void check_weight(const char* name, const Tensor& w) {
  check(w.defined(), "{}: the tensor is undefined", name);
  if (!is_half(w.dtype())) check_floating(name, w.array());
}

/// Of random values for w, which bf16 only stores.
DType drawn(const Tensor& w) { return is_half(w.dtype()) ? f32 : w.dtype(); }

Tensor write(const Tensor& w, const Array& values) {
  const NoGrad guard;
  return w.copy_(Tensor(values));
}

Tensor write_constant(const char* name, const Tensor& w, double value) {
  check(w.defined(), "{}: the tensor is undefined", name);
  const NoGrad guard;
  return w.fill_(value);
}

Tensor write_uniform(const char* name, const Tensor& w, double low, double high, Generator& generator) {
  check_weight(name, w);
  check(low <= high && std::isfinite(high - low), "{}: expects low <= high, got {} and {}", name, low, high);
  if (NoRandomInit::on()) return w;
  return write(w, random_uniform(w.shape(), low, high, drawn(w), generator));
}

Tensor write_normal(const char* name, const Tensor& w, double mean, double std, Generator& generator) {
  check_weight(name, w);
  check(std::isfinite(mean), "{}: expects a finite mean, got {}", name, mean);
  check(std >= 0 && std::isfinite(std), "{}: expects std >= 0, got {}", name, std);
  if (NoRandomInit::on()) return w;
  return write(w, random_normal(w.shape(), mean, std, drawn(w), generator));
}

struct Fans {
  double in, out;
};

Fans fans_of(const char* name, const Tensor& w) {
  check_weight(name, w);
  check(w.dim() >= 2, "{}: expects a weight [out, in, ...] to count its fans, got {}", name, w.shape());
  check(w.numel() > 0, "{}: a weight {} without elements has no fans", name, w.shape());
  const double field = static_cast<double>(w.numel() / (w.size(0) * w.size(1)));
  return {static_cast<double>(w.size(1)) * field, static_cast<double>(w.size(0)) * field};
}

void check_gain(const char* name, double gain) {
  check(gain >= 0 && std::isfinite(gain), "{}: expects a gain of 0 or more, got {}", name, gain);
}

/// gain / sqrt(fan)
double kaiming_std(const char* name, const Tensor& w, const KaimingOptions& options) {
  const Fans fans = fans_of(name, w);
  check(std::isfinite(options.a), "{}: expects a finite a, got {}", name, options.a);
  return gain(options.nonlinearity, options.a) / std::sqrt(options.mode == Fan::in ? fans.in : fans.out);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// The x with normal_cdf(x) = p, by bisection: speed does not matter for initial values.
double normal_quantile(double p, double low, double high) {
  for (int i = 0; i < 54; ++i) {
    const double middle = 0.5 * (low + high);
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

Tensor zeros_(const Tensor& w) { return write_constant("zeros_", w, 0); }
Tensor ones_(const Tensor& w) { return write_constant("ones_", w, 1); }
Tensor constant_(const Tensor& w, double value) { return write_constant("constant_", w, value); }

Tensor uniform_(const Tensor& w, double low, double high, Generator& generator) {
  return write_uniform("uniform_", w, low, high, generator);
}

Tensor normal_(const Tensor& w, double mean, double std, Generator& generator) {
  return write_normal("normal_", w, mean, std, generator);
}

Tensor trunc_normal_(const Tensor& w, double mean, double std, double low, double high,
                     Generator& generator) {
  check_weight("trunc_normal_", w);
  check(std::isfinite(mean), "trunc_normal_: expects a finite mean, got {}", mean);
  check(std > 0 && low < high, "trunc_normal_: expects std > 0 and low < high, got std {}, low {}, high {}",
        std, low, high);
  const double a = (low - mean) / std, b = (high - mean) / std;
  check(a < 6 && b > -6, "trunc_normal_: [{}, {}] lies more than 6 standard deviations from the mean {}", low,
        high, mean);
  // The inverse distribution function of a uniform value between the probabilities of the two ends.
  const double pa = normal_cdf(a), pb = normal_cdf(b);
  const Tensor values = empty(w.shape(), f64);
  for (double& value : values.mutable_span<double>()) {
    const double p = pa + (pb - pa) * generator.uniform();
    value = std::clamp(mean + std * normal_quantile(p, std::max(a, -10.0), std::min(b, 10.0)), low, high);
  }
  return write(w, values.array());
}

Tensor xavier_uniform_(const Tensor& w, double gain, Generator& generator) {
  const Fans fans = fans_of("xavier_uniform_", w);
  check_gain("xavier_uniform_", gain);
  const double a = gain * std::sqrt(6 / (fans.in + fans.out));
  return write_uniform("xavier_uniform_", w, -a, a, generator);
}

Tensor xavier_normal_(const Tensor& w, double gain, Generator& generator) {
  const Fans fans = fans_of("xavier_normal_", w);
  check_gain("xavier_normal_", gain);
  return write_normal("xavier_normal_", w, 0, gain * std::sqrt(2 / (fans.in + fans.out)), generator);
}

double gain(Nonlinearity nonlinearity, double a) {
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return 5.0 / 3;
    case Nonlinearity::relu:
      return std::numbers::sqrt2;
    case Nonlinearity::leaky_relu:
      return std::sqrt(2 / (1 + a * a));
    case Nonlinearity::linear:
    case Nonlinearity::sigmoid:
      break;
  }
  return 1;
}

Tensor kaiming_uniform_(const Tensor& w, const KaimingOptions& options, Generator& generator) {
  const double bound = std::sqrt(3.0) * kaiming_std("kaiming_uniform_", w, options);
  return write_uniform("kaiming_uniform_", w, -bound, bound, generator);
}

Tensor kaiming_normal_(const Tensor& w, const KaimingOptions& options, Generator& generator) {
  return write_normal("kaiming_normal_", w, 0, kaiming_std("kaiming_normal_", w, options), generator);
}

void gpt2_(const Module& model, const Gpt2Options& options, Generator& generator) {
  check(options.std >= 0 && std::isfinite(options.std), "gpt2_: expects std >= 0, got {}", options.std);
  check(options.residual_layers >= 0, "gpt2_: expects residual_layers >= 0, got {}", options.residual_layers);
  const double blocks = static_cast<double>(options.residual_layers);
  const double residual_std = blocks > 0 ? options.std / std::sqrt(2 * blocks) : options.std;
  for (const auto& [name, module] : model.named_modules()) {
    if (!detail::is_library_layer(module)) continue;
    const bool residual = name.ends_with("out_proj") || name.ends_with("linear2");
    for (const auto& [key, w] : module.own_parameters()) {
      if (key == "bias" || key == "in_proj_bias")
        zeros_(w);
      else if (key == "in_proj_weight" || (key == "weight" && w.dim() == 2))
        normal_(w, 0, residual ? residual_std : options.std, generator);
      else if (key == "weight")
        ones_(w);  // a norm's
    }
  }
}

}  // namespace gradus::nn::init
