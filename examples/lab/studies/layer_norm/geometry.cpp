// The geometry of layer norm's output, measured on the library's own norm in f64.

#include <fmt/format.h>

#include <cmath>

#include "gradus/gradus.h"
#include "lab/studies/layer_norm/parts.h"

namespace gradus::lab::layer_norm_parts {

namespace {

constexpr double kEps = 1e-5;

double length_of(const Tensor& x) { return std::sqrt((x * x).sum().item()); }
double cosine_of(const Tensor& a, const Tensor& b) {
  return (a * b).sum().item() / (length_of(a) * length_of(b));
}

/// The output for a token of this direction and size when eps is added to sigma instead.
Tensor eps_outside(const Tensor& x) {
  const Tensor centred = x - x.mean();
  return centred / (std::sqrt((centred * centred).mean().item()) + kEps);
}

void measure_radius(Measured& measured, Generator& generator) {
  std::vector<double>& radii = measured.series["radius"];
  for (const std::int64_t d : {2, 4, 8, 16, 32, 64, 128, 256, 512}) {
    const Tensor x = Tensor(random_normal({d}, 1.0, 2.0, f64, generator));
    radii.push_back(length_of(layer_norm(x, {}, {}, kEps)));
    for (const std::int64_t kept : {16, 64, 256})
      if (d == kept) measured.numbers[fmt::format("radius.d{}", d)] = radii.back();
  }
}

/// The distance of tokens from the ellipsoid sum ((y_i - b_i) / g_i)^2 = d.
double off_ellipsoid(Generator& generator) {
  const std::int64_t d = 64;
  const Tensor x = Tensor(random_normal({256, d}, 1.0, 2.0, f64, generator));
  const Tensor gain = exp(Tensor(random_normal({d}, 0.0, 0.5, f64, generator)));
  const Tensor bias = Tensor(random_normal({d}, 0.0, 1.0, f64, generator));
  const Tensor back = (layer_norm(x, gain, bias, 0.0) - bias) / gain;
  return ((back * back).sum(-1) / static_cast<double>(d) - 1).abs().max().item();
}

}  // namespace

void measure_geometry(Measured& measured, std::uint64_t seed) {
  const DefaultDType dtype(f64);
  Generator generator(seed);
  measure_radius(measured, generator);
  measured.numbers["ellipsoid"] = off_ellipsoid(generator);

  const std::int64_t d = 64;
  const Tensor unit = layer_norm(Tensor(random_normal({d}, 0.0, 1.0, f64, generator)), {}, {}, 0.0);
  const Tensor x = 1.0 + 2.0 * unit;  // of mean 1 and standard deviation 2
  const Tensor mean = x.mean() * ones({d});
  measured.numbers["mean-token-cosine"] = cosine_of(mean, x);
  measured.numbers["mean-radial-cosine"] = cosine_of(mean, x - mean);
  for (const double sigma : {1.0, 0.01, 0.001}) {
    const Tensor token = 1.0 + sigma * unit, inside = layer_norm(token, {}, {}, kEps);
    measured.numbers[fmt::format("eps-outside.{}", sigma)] =
        length_of(eps_outside(token) - inside) / length_of(inside);
  }
}

Measured measure_plane(std::uint64_t seed) {
  const DefaultDType dtype(f64);
  Generator generator(seed);
  Measured measured;
  const Tensor across = tensor({{1.0, -1.0, 0.0}}) / std::sqrt(2.0);
  const Tensor up = tensor({{1.0, 1.0, -2.0}}) / std::sqrt(6.0);
  const Tensor gain = tensor({1.6, 0.7, 0.4}), bias = tensor({1.5, -1.5, 0.0});
  const Tensor x = Tensor(random_normal({kPlanePoints, 3}, 0.5, 1.5, f64, generator));
  const Tensor normed = layer_norm(x, {}, {}, kEps);
  const auto keep = [&](const std::string& name, const Tensor& points) {
    measured.series[name + ".x"] = (points * across).sum(-1).to_vector<double>();
    measured.series[name + ".y"] = (points * up).sum(-1).to_vector<double>();
  };
  keep("token", x);
  keep("normed", normed);
  keep("gain", normed * gain);
  keep("bias", normed * gain + bias);

  const Tensor unit = layer_norm(Tensor(random_normal({64}, 0.0, 1.0, f64, generator)), {}, {}, 0.0);
  for (double power = -5; power <= 0.01; power += 0.25) {
    const Tensor token = std::pow(10.0, power) * unit;
    measured.series["sigma"].push_back(std::pow(10.0, power));
    measured.series["shrink.inside"].push_back(length_of(layer_norm(token, {}, {}, kEps)) / 8);
    measured.series["shrink.outside"].push_back(length_of(eps_outside(token)) / 8);
  }
  return measured;
}

}  // namespace gradus::lab::layer_norm_parts
