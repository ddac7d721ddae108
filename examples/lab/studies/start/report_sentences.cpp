#include <fmt/format.h>

#include <algorithm>

#include "lab/statistics/statistics.h"
#include "lab/studies/stack.h"
#include "lab/studies/start/report.h"
#include "lab/training/weights.h"

namespace gradus::lab::start {

namespace {

using Values = std::vector<double>;

/// " By depth, with Xiong et al.'s weights: 0.96 with 8 layers and 0.62 with 32 layers."; nothing before all
/// depths have been measured.
std::string describe_decay(const StudyResults& results) {
  std::vector<std::string> words;
  for (const std::int64_t layers : depths_of(results.options)) {
    if (layers < kDecayFrom) continue;
    const Values shares = finite(stacks_of(results, "post", "xiong", layers).numbers("share"));
    if (shares.empty()) return "";
    words.push_back(
        fmt::format("{} with {}", kit::number_text(geometric_mean(shares), 2), counted(layers, "layer")));
  }
  return fmt::format(" By depth, with {}'s weights: {}.", weight_scheme("xiong").title, listed(words));
}

}  // namespace

/// How Post-LN's first gradient compares with its last.
std::string describe_vanishing(const StudyResults& results) {
  std::vector<std::string> words;
  const double printed = norms_alone(kDepth);
  double least = 1e300;
  for (const char* scheme : kSchemes) {
    const Values shares = finite(stacks_of(results, "post", scheme).numbers("share"));
    if (shares.empty()) continue;
    words.push_back(
        fmt::format("{} ({})", kit::number_text(geometric_mean(shares), 2), weight_scheme(scheme).title));
    least = std::min(least, spread_of(shares).low);
  }
  if (words.empty()) return "";
  return fmt::format(
      "At the first of 32 blocks Post-LN keeps these shares of the last block's gradient (geometric means): "
      "{}. With the published slope it would keep {}; the lowest of all seeds keeps {}: {}.{}",
      listed(words), kit::number_text(printed, 2), kit::number_text(least, 2),
      least > 10 * printed ? "no seed comes near the slope" : "some seeds come near the slope",
      describe_decay(results));
}

/// Which placement's layers differ more, scheme by scheme.
std::string describe_spreads(const StudyResults& results) {
  std::vector<std::string> words;
  for (const char* scheme : kSchemes) {
    Values differences;
    for (const char* matrix : kMatrices) {
      const std::string number = fmt::format("spread.{}", matrix);
      const Values pre = stacks_of(results, "pre", scheme).numbers(number),
                   post = stacks_of(results, "post", scheme).numbers(number);
      differences.resize(std::min(pre.size(), post.size()));
      for (std::size_t i = 0; i < differences.size(); ++i)
        differences[i] += (pre[i] - post[i]) / static_cast<double>(kMatrices.size());
    }
    if (differences.empty()) continue;
    const Difference d = difference_of(differences);
    words.push_back(fmt::format("{}: they differ less in Pre-LN in {} of {}", weight_scheme(scheme).title,
                                d.down, counted(d.count, "seed")));
  }
  if (words.empty()) return "";
  return fmt::format(
      "1 would mean gradients of the same size in all layers. Layers are compared by the mean of the "
      "logarithms of the four columns: {}.",
      listed(words));
}

/// The share of the gradient at the bottom of 8 blocks with and without shortcuts.
std::string describe_shortcuts(const StudyResults& results) {
  std::vector<std::string> words;
  for (const std::string placement : {"pre", "post", "none"}) {
    const Values with = finite(stacks_of(results, placement, "fan_in", kDepth / 4).numbers("activation")),
                 without = finite(
                     stacks_of(results, placement + "-cut", "fan_in", kDepth / 4).numbers("activation"));
    if (with.empty() || without.empty()) continue;
    words.push_back(fmt::format("{} with{} and {} without ({})", kit::number_text(geometric_mean(with), 2),
                                words.empty() ? " shortcuts" : "",
                                kit::number_text(geometric_mean(without), 2), title_of(placement)));
  }
  if (words.empty()) return "";
  return fmt::format(
      "With 8 layers the gradient at the bottom, divided by that at the top, has a geometric mean of {}. ",
      listed(words));
}

/// Which placement's outputs are larger, on average over the first kEarly steps.
std::string describe_training(const StudyResults& results) {
  std::vector<std::string> words;
  for (const auto& [number, title] :
       {std::pair{"stream", "the stream"}, {"branch", "the branches"}, {"output", "the logits"}}) {
    Values ratios = trained_of(results, "pre").by_seed(number);
    const Values post = trained_of(results, "post").by_seed(number);
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= post[i];
    if (finite(ratios).empty()) continue;
    words.push_back(fmt::format("{} for {}", mean_and_range(ratios), title));
  }
  if (words.empty()) return "";
  return fmt::format(
      "Pre-LN's root mean square divided by Post-LN's, averaged over the first {} steps, is {}. ", kEarly,
      listed(words));
}

}  // namespace gradus::lab::start
