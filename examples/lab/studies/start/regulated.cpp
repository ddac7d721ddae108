// What Pre-LN's norms keep constant while the stream grows: a sublayer's input by construction; what it adds
// to the stream is measured.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradus/core/check.h"
#include "gradus/gradus.h"
#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/studies/slope.h"
#include "lab/studies/start/report.h"
#include "lab/study/outcome.h"
#include "lab/training/trial.h"

namespace gradus::lab::start {

namespace {

/// Root mean squares at each sublayer, from the first block's attention to the last one's FFN.
struct Sublayers {
  std::vector<double> stream, normed, input, share;

  /// Adds the sublayer x + branch, branch = f(input), and returns the stream after it.
  Tensor add(const Tensor& x, const nn::LayerNorm& plain, const Tensor& in, const Tensor& branch) {
    stream.push_back(rms(x));
    normed.push_back(rms(plain(x)));
    input.push_back(rms(in));
    share.push_back(rms(branch) / rms(x));
    return x + branch;
  }
};

/// Of a Pre-LN model without dropout.
Sublayers sublayers_of(const nn::GPT& model, const Tensor& ids) {
  const NoGrad guard;
  const nn::LayerNorm plain(model.options().block.d_model, {.affine = false});
  Sublayers all;
  Tensor x = model.token_embedding(ids) + (*model.position_embedding)(ids.size(1));
  for (const nn::AnyBlock& any : model.transformer.layers) {
    const auto* const block = any.as<nn::PreLNBlock>();
    check(block != nullptr, "start: expects Pre-LN blocks");
    const Tensor to_attention = block->norm1(x);
    x = all.add(x, plain, to_attention, block->self_attn(to_attention));
    const Tensor to_ffn = block->norm2(x);
    x = all.add(x, plain, to_ffn, block->ffn(to_ffn));
  }
  const double apart = rms((*model.transformer.norm)(x)-model.hidden(ids));
  check(!(apart > 1e-3), "start: the sublayers end {} away from the model's states", apart);
  return all;
}

void add_numbers(Measured& measured, const Sublayers& at, const std::string& when) {
  double off = 0;
  for (const double size : at.normed) off = std::max(off, std::abs(size - 1));
  measured.numbers["growth." + when] = at.stream.back() / at.stream.front();
  measured.numbers["normed." + when] = off;
  measured.numbers["input." + when] = log_slope(at.stream, at.input);
  measured.numbers["share." + when] = log_slope(at.stream, at.share);
  measured.series["streams." + when] = at.stream;
  measured.series["inputs." + when] = at.input;
  measured.series["shares." + when] = at.share;
}

}  // namespace

Measured measure_regulated(std::uint64_t seed, std::int64_t steps) {
  TrialOptions options{.placement = nn::pre_ln(), .layers = kTrainedLayers};
  options.lr = 1e-3;
  options.warmup = 100;
  options.steps = steps;
  options.seed = seed;
  const Task& task = recall_task();
  nn::GPT model = new_model(task, options);
  const Tensor ids = task.validation().inputs.slice(0, 0, kWindows);
  Measured measured;
  add_numbers(measured, sublayers_of(model, ids), "start");
  const TrialResult result = train(task, model, options);
  measured.numbers["loss"] = result.final_loss;
  measured.numbers["diverged"] = result.diverged ? 1 : 0;
  add_numbers(measured, sublayers_of(model, ids), "end");
  return measured;
}

void add_of_regulated(Figures& all, const StudyResults& results) {
  const Runs runs = regulated_of(results);
  const std::vector<double> losses = runs.by_seed("loss"),
                            ends = without_failed(losses, recall_task().context_free_loss());
  const std::size_t finished = finite(losses).size();
  for (const std::string what : {"growth", "normed", "input", "share"})
    for (const std::string when : {"start", "end"}) {
      const std::string id = "regulates." + what + "." + when;
      const std::vector<double> values = runs.by_seed(what + "." + when);
      for (std::size_t s = 0; s < values.size(); ++s)
        if (when == "start" || !std::isnan(ends[s])) keep(all, id, values[s]);
      if (when == "start") continue;
      all.object(id, trains_nowhere(finite(losses), learned_loss(),
                                    fmt::format("Pre-LN, {} layers", kTrainedLayers)));
      all.object(id, failed_runs(finite(ends).size(), finished));
    }
}

void add_regulation(Page& page, const StudyResults& results) {
  page.html.heading("What Pre-LN's norms keep constant");
  page.html.paragraph(fmt::format(
      "Pre-LN, {} layers, before the first and after the last of {} steps at rate 0.001; root mean squares "
      "on "
      "8 fixed windows at each of the {} sublayers. That a normalised stream has size 1 is the norm's "
      "construction, and so is the size of a sublayer's input at the start, where gains are 1 and biases 0. "
      "The sublayer then does not see how large the stream is, and what it adds becomes a smaller share of a "
      "larger stream unless its weights make up for that: the norm regulates inputs, not shares.",
      kTrainedLayers, kRegulatedSteps, 2 * kTrainedLayers));
  const Titled rows[] = {
      {"growth", "stream before the last sublayer over that before the first"},
      {"normed", "largest distance of the normalised stream from size 1 (by construction)"},
      {"input", "exponent p: input as stream^p"},
      {"share", "exponent p: branch over stream as stream^p"}};
  const Titled times[] = {{"start", "at the start"}, {"end", "after training"}};
  page.html.table(cross_table(
      "Mean (lowest to highest seed)", "", rows, times, [&](const Titled& row, const Titled& time) {
        return mean_and_range(regulated_of(results).numbers(row.name + "." + time.name));
      }));
  const Titled sizes[] = {{"streams", "the stream before it"},
                          {"inputs", "its input"},
                          {"shares", "what it adds, over the stream"}};
  const auto chart = [&](const Titled& size) {
    return kit::LineChart{.title = size.title,
                          .x_label = "sublayer",
                          .y_label = "root mean square (log scale)",
                          .y_axis = kit::AxisKind::log,
                          .series = lines_of_curves(times, [&](const Titled& time) {
                            return regulated_of(results).curves(size.name + "." + time.name);
                          })};
  };
  page.figure("start-regulation", panels("Sizes at each sublayer of Pre-LN", sizes, chart),
              "Odd sublayers are attention, even ones FFNs. " +
                  describe_bands(regulated_seeds_of(results.options).size()));
}

}  // namespace gradus::lab::start
