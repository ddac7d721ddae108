// The measurements of the study of attention.

#include <algorithm>
#include <cmath>

#include "gradus/gradus.h"
#include "lab/studies/attention/axis.h"
#include "lab/studies/attention/inside.h"
#include "lab/studies/attention/parts.h"

namespace gradus::lab::attention {

namespace {

constexpr std::int64_t kDocuments = 64;  // of the validation set, for measurements during training
constexpr std::int64_t kLooks = 20;

double root_mean_square(const Tensor& x) { return std::sqrt((x * x).mean().item()); }

/// The size of dL/dscores for a random dL/dweights.
double gradient_size(const Tensor& scores, const Tensor& dy) {
  Tensor leaf = scores.clone();
  leaf.requires_grad_();
  softmax(leaf, -1).backward(dy);
  return root_mean_square(leaf.grad());
}

double entropy_of(const Tensor& scores) {
  const Tensor w = softmax(scores, -1);
  return -(w * log(clamp(w, 1e-30))).sum(-1).mean().item();
}

}  // namespace

Measured measure_scale(std::uint64_t seed) {
  Generator generator(seed, 4);
  Measured measured;
  for (const double size : kHeadSizes) {
    const auto d = static_cast<std::int64_t>(size);
    const Tensor q = Tensor(random_normal({64, d}, 0, 1, f32, generator));
    const Tensor k = Tensor(random_normal({64, d}, 0, 1, f32, generator));
    const Tensor dy = Tensor(random_normal({64, 64}, 0, 1, f32, generator));
    const Tensor raw = matmul(q, k.t()), scaled = raw / std::sqrt(size);
    for (const auto& [name, scores] : {std::pair("raw", raw), std::pair("scaled", scaled)}) {
      const std::string which = name;
      measured.series["variance." + which].push_back(scores.var().item());
      measured.series["entropy." + which].push_back(entropy_of(scores));
      measured.series["gradient." + which].push_back(gradient_size(scores, dy));
    }
  }
  const auto at = [&](const std::string& name, std::size_t i) { return measured.series.at(name)[i]; };
  const std::size_t last = kHeadSizes.size() - 1;
  measured.numbers["scale.variance"] = at("variance.scaled", last) / at("variance.scaled", 1);
  measured.numbers["scale.entropy"] = at("entropy.scaled", last) - at("entropy.scaled", 1);
  measured.numbers["scale.gradient"] = at("gradient.scaled", last) / at("gradient.scaled", 1);
  return measured;
}

namespace {

/// Change of a block's scores when its input is ten times as long.
double direction_change(const nn::GPT& gpt, std::uint64_t seed) {
  const NoGrad guard;
  Generator generator(seed, 5);
  const nn::AnyBlock& block = gpt.transformer.layers[0];
  const Tensor x = Tensor(random_normal({4, 16, 32}, 0, 1, f32, generator));
  const auto scores = [&](const Tensor& tokens) {
    const Tensor read =
        layer_norm(tokens, block.parameter("norm1.weight"), block.parameter("norm1.bias"), 1e-5);
    return scores_of(queries_and_keys(block, read, gpt.options().block.heads));
  };
  const Tensor before = scores(x);
  return (scores(10.0 * x) - before).abs().max().item() / before.std().item();
}

void measure_angles(Measured& measured, const nn::GPT& gpt, const std::string& when) {
  const char* const parts[] = {"q", "k", "v"};
  const double chance = 1.0 / static_cast<double>(gpt.options().block.heads);  // D / d
  for (int part = 0; part < 3; ++part) {
    const SubspaceAngles angles = head_angles(gpt, part);
    measured.numbers["overlap" + when + "." + parts[part]] = angles.overlap / chance;
    measured.numbers["angle" + when + "." + parts[part]] = angles.smallest;
  }
}

/// Finds the recall head on one half of the documents and measures it on the other.
void measure_matching(Measured& measured, const nn::GPT& gpt) {
  const Tensor documents = recall_task().validation().inputs;
  const Tensor search = documents.slice(0, 0, kDocuments),
               held_out = documents.slice(0, kDocuments, 2 * kDocuments);
  const std::vector<QueriesKeys> found = queries_and_keys(gpt, search),
                                 layers = queries_and_keys(gpt, held_out);
  double most = -1;
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    for (std::int64_t head = 0; head < gpt.options().block.heads; ++head) {
      const auto of = [&](const QueriesKeys& all, const Tensor& texts) {
        return matching_of(all.q.select(1, head), all.k.select(1, head), texts);
      };
      const double mass = of(found[layer], search).mass;
      const Matching matching = of(layers[layer], held_out);
      measured.series["heads.auc"].push_back(matching.auc);
      measured.series["heads.mass"].push_back(matching.mass);
      if (!(mass > most)) continue;
      most = mass;
      measured.numbers["auc"] = matching.auc;
      measured.numbers["cosine"] = matching.cosine;
      measured.numbers["mass"] = matching.mass;
    }
}

}  // namespace

Measured measure_training(const std::string& variant, double rate, std::uint64_t seed, std::int64_t steps) {
  const bool qk_norm = variant.ends_with("-qk"), pre = variant.starts_with("pre");
  const TrialOptions options{.placement = pre ? nn::pre_ln() : nn::post_ln(),
                             .layers = kTrainedLayers,
                             .block = {.d_model = 32, .heads = 4, .qk_norm = qk_norm},
                             .lr = rate,
                             .steps = steps,
                             .seed = seed};
  nn::GPT gpt = new_model(recall_task(), options);
  const Tensor documents = recall_task().validation().inputs.slice(0, 0, kDocuments);
  Measured measured;
  measured.numbers["direction"] = pre ? direction_change(gpt, seed) : 0;
  measure_angles(measured, gpt, "-start");
  const auto look = [&](std::int64_t step) {
    const ScoreSize size = score_size(queries_and_keys(gpt, documents));
    measured.series["step"].push_back(static_cast<double>(step));
    measured.series["scores"].push_back(size.largest);
    measured.series["entropy"].push_back(size.entropy);
  };
  look(0);
  const std::int64_t every = std::max<std::int64_t>(steps / kLooks, 1);
  const TrialResult result = train(recall_task(), gpt, options, [&](const TrialStep& now) {
    if (now.step % every == 1 && now.step > 1) look(now.step - 1);
  });
  look(steps);
  measured.numbers["loss"] = result.final_loss;
  measured.numbers["diverged"] = result.diverged;
  measured.numbers["largest"] = std::log10(measured.series["scores"].back());
  measured.numbers["growth"] = measured.series["scores"].back() / measured.series["scores"].front();
  measure_angles(measured, gpt, "");
  for (const std::string part : {"q", "k", "v"})
    measured.numbers["turned." + part] =
        measured.numbers["angle." + part] - measured.numbers["angle-start." + part];
  measure_matching(measured, gpt);
  return measured;
}

namespace {

SoftmaxAxis axis_named(const std::string& name) {
  return name == "keys" ? SoftmaxAxis::keys : name == "queries" ? SoftmaxAxis::queries : SoftmaxAxis::batch;
}

/// In batches of 16, as in training: a softmax over the batch depends on how many there are.
double loss_in_batches(const nn::GPT& gpt, const Batch& windows) {
  const NoGrad guard;
  double sum = 0, batches = 0;
  for (std::int64_t i = 0; i + 16 <= windows.inputs.size(0); i += 16, ++batches)
    sum += gpt.loss(windows.inputs.slice(0, i, i + 16), windows.targets.slice(0, i, i + 16)).item();
  return sum / batches;
}

double relative_change(const Tensor& changed, const Tensor& before) {
  return root_mean_square(changed - before) / root_mean_square(before);
}

}  // namespace

Measured measure_axis(const std::string& axis, std::uint64_t seed, std::int64_t steps) {
  const TrialOptions options{
      .placement = pre_ln_over(axis_named(axis)), .layers = 2, .lr = kRate, .steps = steps, .seed = seed};
  nn::GPT gpt = new_model(recall_task(), options);
  const TrialResult result = train(recall_task(), gpt, options);
  const Batch& validation = recall_task().validation();
  const NoGrad guard;
  const Tensor x = gpt.token_embedding(validation.inputs.slice(0, 0, 16)) + (*gpt.position_embedding)(32);
  const nn::AnyBlock& block = gpt.transformer.layers[0];
  const Tensor read = layer_norm(x, block.parameter("norm1.weight"), block.parameter("norm1.bias"));
  const Tensor rows = weights_over(axis_named(axis), block, read, 4).sum(-1);

  const Tensor ids = validation.inputs.slice(0, 0, 16), before = gpt(ids);
  const Tensor others = validation.inputs.slice(0, 16, 32);
  const Tensor later = cat({ids.slice(1, 0, 16), others.slice(1, 16)}, 1);
  const Tensor company = cat({ids.slice(0, 0, 8), others.slice(0, 8)}, 0);
  const double loss = loss_in_batches(gpt, validation);
  return {.numbers = {{"loss", loss},
                      {"leak", best_loss_on(validation) - loss},
                      {"rows", (rows - 1.0).abs().mean().item()},
                      {"future", relative_change(gpt(later).slice(1, 0, 16), before.slice(1, 0, 16))},
                      {"others", relative_change(gpt(company).slice(0, 0, 8), before.slice(0, 0, 8))},
                      {"diverged", result.diverged}},
          .series = {{"losses", thinned(result.losses, 40)}}};
}

}  // namespace gradus::lab::attention
