#include "lab/statistics/format.h"

#include <fmt/format.h>

#include "gradus/kit/chart/axis.h"

namespace gradus::lab {

std::string describe_warmup(std::int64_t warmup) {
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
