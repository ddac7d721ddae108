#include <fmt/format.h>

#include <algorithm>

#include "gradus/kit/chart/axis.h"
#include "lab/statistics/statistics.h"
#include "lab/statistics/words.h"
#include "lab/studies/bands.h"
#include "lab/studies/stack.h"
#include "lab/studies/start/report.h"
#include "lab/training/weights.h"

namespace gradus::lab::start {

namespace {

using Values = std::vector<double>;

}  // namespace

/// How Post-LN's first gradient stands to its last, in words.
std::string vanishing_sentence(const StudyResults& results) {
  std::vector<std::string> words;
  const double printed = norms_alone(kDepth);
  double least = 1e300;
  for (const char* scheme : kSchemes) {
    const Values shares = finite(over_seeds(results, "post", scheme, kDepth, "share"));
    if (shares.empty()) continue;
    words.push_back(
        fmt::format("{} ({})", kit::number_text(geometric_mean(shares), 2), weight_scheme(scheme).title));
    least = std::min(least, spread_of(shares).low);
  }
  if (words.empty()) return "";
  return fmt::format(
      "At the first of 32 blocks Post-LN keeps these shares of the last one's gradient (geometric means): "
      "{}. The printed slope would leave {}; the least of all seeds keeps {}: {}.",
      listed(words), kit::number_text(printed, 2), kit::number_text(least, 2),
      least > 10 * printed ? "none comes near it" : "some come near it");
}

/// Which placement's layers differ more, scheme by scheme.
std::string spread_sentence(const StudyResults& results) {
  std::vector<std::string> words;
  for (const char* scheme : kSchemes) {
    Values differences;
    for (const char* matrix : kMatrices) {
      const std::string number = fmt::format("spread.{}", matrix);
      const Values pre = over_seeds(results, "pre", scheme, kDepth, number),
                   post = over_seeds(results, "post", scheme, kDepth, number);
      differences.resize(std::min(pre.size(), post.size()));
      for (std::size_t i = 0; i < differences.size(); ++i)
        differences[i] += (pre[i] - post[i]) / static_cast<double>(kMatrices.size());
    }
    if (differences.empty()) continue;
    const Difference d = difference_of(differences);
    words.push_back(fmt::format("{}: less in Pre-LN in {} of {}", weight_scheme(scheme).title, d.down,
                                counted(d.count, "seed")));
  }
  if (words.empty()) return "";
  return fmt::format(
      "1 would be gradients of one size in all layers. How much layers differ, the mean of the "
      "logarithms of the four columns: {}.",
      listed(words));
}

/// What is left at the bottom of 8 blocks with and without shortcuts.
std::string shortcut_sentence(const StudyResults& results) {
  std::vector<std::string> words;
  for (const std::string placement : {"pre", "post", "none"}) {
    const Values with = finite(over_seeds(results, placement, "fan_in", kDepth / 4, "activation")),
                 without =
                     finite(over_seeds(results, placement + "-cut", "fan_in", kDepth / 4, "activation"));
    if (with.empty() || without.empty()) continue;
    words.push_back(fmt::format("{} with and {} without ({})", kit::number_text(geometric_mean(with), 2),
                                kit::number_text(geometric_mean(without), 2), title_of(placement)));
  }
  if (words.empty()) return "";
  return fmt::format(
      "With 8 layers the gradient at the bottom is, of that at the top, {} (geometric means). ",
      listed(words));
}

/// Which placement's outputs are larger, in the mean over the first kEarly steps.
std::string training_sentence(const StudyResults& results) {
  std::vector<std::string> words;
  for (const auto& [number, title] :
       {std::pair{"stream", "the stream"}, {"branch", "the branches"}, {"output", "the logits"}}) {
    Values ratios;
    for (const std::uint64_t seed : trained_seeds_of(results.options))
      ratios.push_back(results.number(trained_name("pre", seed), number) /
                       results.number(trained_name("post", seed), number));
    if (finite(ratios).empty()) continue;
    words.push_back(fmt::format("{} {}", mean_and_range(ratios), title));
  }
  if (words.empty()) return "";
  return fmt::format("Pre-LN's root mean square over Post-LN's, mean over the first {} steps: {}. ", kEarly,
                     listed(words));
}

}  // namespace gradus::lab::start
