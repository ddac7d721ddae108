#include "gradus/kit/program/language_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/data/text_windows.h"
#include "gradus/nn/norm/norms.h"
#include "gradus/nn/placements/placements.h"

namespace gradus::kit {

namespace {

constexpr std::int64_t evaluated = 8192;  // about this many tokens in an evaluation batch

bool is_known(const auto& find) {
  try {
    find();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<optim::ParameterGroup> decay_matrices(const nn::Module& model) {
  std::vector<Tensor> matrices, vectors;
  for (const Tensor& parameter : model.parameters())
    (parameter.dim() >= 2 ? matrices : vectors).push_back(parameter);
  std::vector<optim::ParameterGroup> groups;
  if (!matrices.empty()) groups.push_back({.parameters = matrices});
  if (!vectors.empty()) groups.push_back({.parameters = vectors, .weight_decay = 0});
  return groups;
}

double loss_over(const nn::GPT& model, std::span<const std::int32_t> tokens, std::int64_t context) {
  check(context >= 1 && std::ssize(tokens) > context,
        "loss_over: expects more tokens than a window has, got {} for a window of {}", tokens.size(),
        context);
  const NoGrad no_grad;
  const nn::EvalMode eval(model);
  const auto [inputs, targets] = data::text_windows(from_span(tokens, {-1}), context, /*stride=*/context);
  const std::int64_t windows = inputs.size(0), batch = std::max<std::int64_t>(1, evaluated / context);
  double total = 0;
  for (std::int64_t first = 0; first < windows; first += batch) {
    const std::int64_t end = std::min(windows, first + batch);
    total += model.loss(inputs.slice(0, first, end), targets.slice(0, first, end)).item() *
             static_cast<double>(end - first);
  }
  return total / static_cast<double>(windows);
}

bool is_placement(const std::string& name) {
  return is_known([&] { nn::placement_named(name); });
}

bool is_norm(const std::string& name) {
  return is_known([&] { nn::norm_named(name); });
}

std::string wrong_block_names(const std::string& placement, const std::string& norm) {
  if (!is_placement(placement))
    return fmt::format("--placement: there is no '{}'; `--placement list` lists all", placement);
  if (!is_norm(norm)) return fmt::format("--norm: there is no '{}'; `--norm list` lists all", norm);
  return "";
}

}  // namespace gradus::kit
