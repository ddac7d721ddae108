#include "lab/names.h"

#include <fmt/format.h>

#include <cctype>

#include "gradus/kit/chart/axis.h"

namespace gradus::lab {

std::string RunOptions::name() const {
  std::string text = fmt::format("{}-L{}-lr{}-w{}-s{}", name_of(placement), layers, lr, warmup, seed);
  if (final_norm) text += *final_norm ? "-norm" : "-nonorm";
  if (residual_scaling) text += "-scaled";
  return text;
}

std::string name_of(const Placement& placement) {
  std::string name;
  for (const char c : short_title_of(placement))
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

Placement placement_named(const std::string& name) { return {nn::placement_named(name).name}; }

std::string title_of(const Placement& placement) { return placement.title; }

std::string short_title_of(const Placement& placement) {
  const std::string& title = placement.title;
  return title.ends_with("-LN") ? title.substr(0, title.size() - 3) : title;
}

std::string difference_words(const Placements& placements) {
  return title_of(placements[1]) + " - " + title_of(placements[0]);
}

std::string ablation_words(const RunOptions& run) {
  if (run.residual_scaling) return "with scaled residual init";
  if (!run.final_norm) return "as it is";
  return *run.final_norm ? "with a final norm" : "without its final norm";
}

std::string warmup_words(std::int64_t warmup) {
  return warmup == 0 ? "without warm-up" : fmt::format("with {} of warm-up", counted(warmup, "step"));
}

std::string nats(double value) { return kit::fixed_text(value, 3); }

std::string with_range(const Difference& difference) {
  const auto change = [](double value) { return (value > 0 ? "+" : "") + nats(value); };
  if (difference.count < 2) return change(difference.mean);
  return fmt::format("{} ({} to {})", change(difference.mean), change(difference.low),
                     change(difference.high));
}

std::string agreement(const Difference& difference) {
  return fmt::format("{} of {}", difference.agreeing(), counted(difference.count, "seed"));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> words;
  for (const std::int64_t number : numbers) words.push_back(std::to_string(number));
  return listed(words);
}

std::string listed(const std::vector<double>& numbers) {
  std::vector<std::string> words;
  for (const double number : numbers) words.push_back(kit::number_text(number));
  return listed(words);
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace gradus::lab
