#include "gradus/nn/module/probe.h"

#include <algorithm>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/claims.h"

namespace gradus::nn {

namespace {

thread_local Probe* watching = nullptr;

/// x, or what bf16 only stores as f32.
Tensor numbers(const Tensor& x) { return is_half(x.dtype()) ? x.detach().to(f32) : x.detach(); }

double sum_of_squares(const Tensor& x) { return numbers(x).square().sum().item(); }

/// Lists the parameters without claiming them.
std::vector<Tensor> parameters_below(const Module& layer) {
  const NoClaims guard;
  return layer.parameters();
}

/// The largest input of this attention's softmax.
double largest_score(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  const NoGrad guard;
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
  Tensor scores = matmul(q, k.transpose(-2, -1)) * scale;
  const std::int64_t queries = q.size(-2), keys = k.size(-2);
  if (options.causal) {
    const Tensor seen = tril(ones({queries, keys}, scores.dtype()), keys - queries);
    scores = masked_fill(scores, seen == 0, -INFINITY);
  }
  if (const Tensor& mask = options.mask; mask.defined())
    scores = mask.dtype() == boolean ? masked_fill(scores, !mask, -INFINITY) : scores + mask;
  return scores.numel() > 0 ? scores.max().item() : NAN;
}

}  // namespace

struct Probe::Layer {
  Module module;
  double activation_norm = NAN;
  double activation_gradient_norm = NAN;
  std::vector<Tensor> parameters = {};
  std::vector<Tensor> before = {};  // their values at the forward pass
};

Probe::Probe() : before_(watching) { watching = this; }
Probe::Probe(const Module& model) : Probe() {
  hook_ = model.on_forward([this](const Module& module, const Tensor& y) {
    if (watching == this && !module.own_parameters().empty()) saw_output(module, y);
  });
}
// Usually the innermost one; probes may end in another order.
Probe::~Probe() {
  for (Probe** at = &watching; *at != nullptr; at = &(*at)->before_)
    if (*at == this) {
      *at = before_;
      return;
    }
}
Probe* Probe::current() { return watching; }

void Probe::clear() {
  layers_.clear();
  logits_.clear();
}

void Probe::saw_output(const Module& module, const Tensor& y) {
  const auto layer = std::make_shared<Layer>(Layer{module});
  const double positions = static_cast<double>(y.numel() / std::max<std::int64_t>(1, y.size(-1)));
  layer->activation_norm = std::sqrt(sum_of_squares(y) / positions);
  if (y.requires_grad())
    y.on_grad([layer](const Array& dy) {
      layer->activation_gradient_norm = std::sqrt(sum_of_squares(Tensor(dy)));
    });
  layer->parameters = parameters_below(module);
  for (const Tensor& w : layer->parameters) layer->before.push_back(w.detach().clone());

  const auto same = [&](const auto& other) { return other->module == module; };
  if (const auto at = std::find_if(layers_.begin(), layers_.end(), same); at != layers_.end())
    *at = layer;
  else
    layers_.push_back(layer);
}

void Probe::saw_attention(const Module& module, const Tensor& q, const Tensor& k,
                          const AttentionOptions& options) {
  const double value = largest_score(q, k, options);
  const auto same = [&](const Logit& other) { return other.attention == module; };
  if (const auto at = std::find_if(logits_.begin(), logits_.end(), same); at != logits_.end())
    at->value = value;
  else
    logits_.push_back({module, value});
}

ListOf<ProbeRow> Probe::rows() const {
  ListOf<ProbeRow> rows;
  for (const auto& layer : layers_) {
    const Module& module = layer->module;
    ProbeRow row{.layer = *module.path() ? module.path() : module.kind(),
                 .activation_norm = layer->activation_norm,
                 .activation_gradient_norm = layer->activation_gradient_norm};
    double gradients = 0, updates = 0, values = 0;
    bool any_gradient = false;
    for (std::size_t i = 0; i < layer->parameters.size(); ++i) {
      const Tensor w = numbers(layer->parameters[i]), gradient = layer->parameters[i].grad();
      any_gradient = any_gradient || gradient.defined();
      if (gradient.defined()) gradients += sum_of_squares(gradient);
      updates += sum_of_squares(w - numbers(layer->before[i]));
      values += sum_of_squares(layer->before[i]);
    }
    if (any_gradient) row.parameter_gradient_norm = std::sqrt(gradients);
    if (values > 0) row.update_ratio = std::sqrt(updates / values);
    for (const auto& [name, inner] : module.named_modules())
      for (const Logit& logit : logits_)
        if (logit.attention == inner) row.largest_logit = std::fmax(row.largest_logit, logit.value);
    rows.push_back(row);
  }
  return rows;
}

std::string Probe::table() const {
  const std::vector<ProbeRow> seen = rows();
  std::size_t width = 5;
  for (const ProbeRow& row : seen) width = std::max(width, row.layer.size());
  const auto number = [](double x) { return std::isnan(x) ? std::string("-") : fmt::format("{:.4g}", x); };
  std::string text = fmt::format("{:<{}}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}\n", "layer", width, "|y|",
                                 "|dy|", "|dw|", "|step|/|w|", "max logit");
  for (const ProbeRow& row : seen)
    text +=
        fmt::format("{:<{}}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}\n", row.layer, width,
                    number(row.activation_norm), number(row.activation_gradient_norm),
                    number(row.parameter_gradient_norm), number(row.update_ratio), number(row.largest_logit));
  return text;
}

}  // namespace gradus::nn
