#include "lab/study/climb.h"

namespace gradus::lab {

Climbed climb(std::size_t rates, const std::vector<std::uint64_t>& seeds,
              const std::function<std::optional<bool>(std::size_t rate, std::uint64_t seed)>& survives) {
  Climbed climbed;
  std::optional<std::size_t> stable, failing;
  bool any_failed = false;
  for (std::size_t rate = 0; rate < rates && !failing; ++rate) {
    std::size_t finished = 0, failed = 0;
    for (const std::uint64_t seed : seeds) {
      climbed.runs.push_back({rate, seed});
      const std::optional<bool> alive = survives(rate, seed);
      if (alive.has_value()) ++finished;
      if (alive.has_value() && !alive.value()) ++failed;
    }
    if (finished < seeds.size()) return climbed;
    any_failed = any_failed || failed > 0;
    if (!any_failed) stable = rate;
    if (2 * failed > seeds.size()) failing = rate;
  }
  climbed.ended = true;
  climbed.stable = stable;
  climbed.failing = failing;
  return climbed;
}

}  // namespace gradus::lab
