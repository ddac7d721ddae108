#include "lab/training/weights.h"

#include <cmath>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/gradus.h"

namespace gradus::lab {

namespace {

constexpr WeightScheme kWeightSchemes[] = {
    {"xiong", "Xiong et al."},  {"fan_in", "N(0, 1/fan_in)"}, {"fan_in_scaled", "1/fan_in, scaled"},
    {"xavier", "Xavier"},       {"small", "N(0, 0.02²)"},     {"gpt2", "GPT-2, scaled"},
    {"tfixup", "T-Fixup-like"},
};

bool writes_into_stream(const std::string& name) {
  return name.ends_with("out_proj.weight") || name.ends_with("linear2.weight");
}

/// The standard deviation of the entries of a matrix [out, in]; queries, keys and values, stored in one
/// matrix, count as three.
double deviation_of(const std::string& scheme, const std::string& name, const Tensor& w, double layers) {
  const auto in = static_cast<double>(w.size(1));
  const double out = name.ends_with("in_proj_weight") ? in : static_cast<double>(w.size(0));
  const double into_stream = writes_into_stream(name) ? 1 / std::sqrt(2 * layers) : 1;
  if (scheme == "xiong" || scheme == "fan_in") return 1 / std::sqrt(in);
  if (scheme == "fan_in_scaled") return into_stream / std::sqrt(in);
  if (scheme == "small") return 0.02;
  if (scheme == "gpt2") return 0.02 * into_stream;
  const double xavier = std::sqrt(2 / (in + out));
  if (scheme == "xavier" || name.ends_with("in_proj_weight")) return xavier;
  return 0.67 * std::pow(layers, -0.25) * xavier;
}

/// Sets the parts for queries and keys, or values, that differ.
void set_parts(const std::string& scheme, const Tensor& in_proj, double layers) {
  const NoGrad guard;
  const std::int64_t d = in_proj.size(1);
  if (scheme == "xiong") in_proj.slice(0, 0, 2 * d) = 0.0;
  if (scheme == "tfixup") in_proj.slice(0, 2 * d) *= 0.67 * std::pow(layers, -0.25);
}

}  // namespace

std::span<const WeightScheme> weight_schemes() { return kWeightSchemes; }

const WeightScheme& weight_scheme(const std::string& name) {
  for (const WeightScheme& scheme : kWeightSchemes)
    if (name == scheme.name) return scheme;
  fail_with("no initial weights are called {}", io::quote(name));
}

void set_weights(const nn::Module& model, const std::string& scheme, std::int64_t layers,
                 Generator& generator) {
  weight_scheme(scheme);  // throws
  const auto depth = static_cast<double>(layers);
  for (const auto& [name, w] : model.named_parameters()) {
    if (name.ends_with("bias")) nn::init::zeros_(w);
    if (name.ends_with("bias") || w.dim() < 2) continue;
    const bool embedding = name.find("embedding") != std::string::npos;
    const double deviation =
        embedding ? 1 / std::sqrt(static_cast<double>(w.size(1))) : deviation_of(scheme, name, w, depth);
    nn::init::normal_(w, 0, deviation, generator);
    if (name.ends_with("in_proj_weight")) set_parts(scheme, w, depth);
  }
}

}  // namespace gradus::lab
