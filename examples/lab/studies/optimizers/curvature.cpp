// Sharpness along training, as in Gilmer et al. 2022 (arXiv:2110.04369): the largest eigenvalue of
// the Hessian of the loss on a fixed batch, for the weights before a step. Lanczos's method needs only
// products with the Hessian, which are exact: gradients of gradients.

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "gradus/gradus.h"
#include "gradus/nn/placements/placements.h"
#include "lab/studies/optimizers/lanczos.h"
#include "lab/studies/optimizers/optimizers.h"
#include "lab/study/outcome.h"

namespace gradus::lab::optimizers {

namespace {

constexpr std::uint64_t kProbe = 0x70726f6265;  // draws the batch on which all sharpnesses are measured
constexpr std::int64_t kProbeSize = 8;

/// The same model with weights in f64, so that rounding does not reach the digits that are kept.
nn::GPT in_f64(const nn::GPT& model) {
  const DefaultDType dtype(f64);
  const NoGrad guard;
  nn::GPT copy(model.options());
  const std::vector<Tensor> from = model.parameters(), to = copy.parameters();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  return copy;
}

std::vector<double> flat(const std::vector<Tensor>& tensors) {
  std::vector<double> all;
  for (const Tensor& one : tensors) {
    const Tensor values = one.contiguous();
    const std::span<const double> numbers = values.span<double>();
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

std::vector<Tensor> shaped(const std::vector<double>& all, const std::vector<Tensor>& like) {
  std::vector<Tensor> tensors;
  auto begin = all.begin();
  for (const Tensor& one : like) {
    const auto end = begin + one.numel();
    tensors.push_back(from_vector(std::vector<double>(begin, end), one.shape()));
    begin = end;
  }
  return tensors;
}

double sharpness_of(const nn::GPT& model, const Batch& batch) {
  const DefaultDType dtype(f64);
  const nn::GPT copy = in_f64(model);
  const std::vector<Tensor> parameters = copy.parameters();
  const auto loss = [&] { return copy.loss(batch.inputs, batch.targets); };
  Generator generator(kProbe);
  std::vector<Tensor> start;
  for (const Tensor& one : parameters) start.push_back(randn(one.shape(), generator, f64));
  const auto product = [&](const std::vector<double>& v) {
    return flat(hvp(loss, parameters, shaped(v, parameters)));
  };
  return largest_eigenvalue(product, flat(start), kProducts);
}

}  // namespace

const Variant& variant_named(const std::string& name) {
  return *std::find_if(variants().begin(), variants().end(),
                       [&](const Variant& one) { return one.name == name; });
}

std::string Curve::name() const {
  return fmt::format("sharpness-{}-{}-{}-s{}", optimizer, word_of(placement), warm ? "warm" : "cold", seed);
}

double curve_rate(const std::string& optimizer) { return optimizer == "adam" ? 0.003 : 0.03; }

Measured measure_sharpness(const TrialOptions& options, const std::vector<std::int64_t>& steps) {
  Generator generator(kProbe, options.seed);
  const Batch probe = recall_task().batch(kProbeSize, generator);
  std::vector<double> values;
  nn::GPT model = new_model(recall_task(), options);
  const TrialResult result = train(recall_task(), model, options, [&](const TrialStep& step) {
    if (std::find(steps.begin(), steps.end(), step.step) != steps.end())
      values.push_back(sharpness_of(step.model, probe));
  });
  Measured measured = outcome_of(result, 8);
  measured.series["sharpness"] = values;
  measured.texts["products"] = "exact";
  return measured;
}

Measured measure_curve(const Curve& curve, const Grid& grid) {
  return measure_sharpness({.placement = nn::placement_named(kPlacements[curve.placement]),
                            .layers = grid.layers,
                            .lr = curve_rate(curve.optimizer),
                            .warmup = curve.warm ? grid.warmup : 0,
                            .optimizer = variant_named(curve.optimizer).make,
                            .steps = grid.steps,
                            .batch = 8,
                            .seed = curve.seed},
                           grid.curve_steps);
}

}  // namespace gradus::lab::optimizers
