#include "docs/draw/ranks.h"

#include <cmath>
#include <fstream>

#include "distributed/speed/model.h"

namespace gradus::docs {

nlohmann::json read_ranks(const char* file) {
  std::ifstream in(std::filesystem::path(GRADUS_RANKS_FOLDER) / file);
  return in ? nlohmann::json::parse(in) : nlohmann::json();
}

/// Messages take 30 us and the network's bandwidth, as in tests/distributed/speed/record.sh.
double predicted_efficiency(const char* model, double gbit, int ranks, double tokens, double bucket_mib) {
  const speed::Profile profile = speed::profile_of(speed::gpt_called(model), speed::two_cores(), tokens);
  const speed::Cost message{30e-6, 8e-9 / gbit};
  return speed::predict(profile, static_cast<std::int64_t>(bucket_mib * (1 << 20)), message, ranks)
      .efficiency();
}

double tokens_for_90(const char* model, double gbit, int ranks, double bucket_mib) {
  double low = 1, high = 1e9;
  while (high / low > 1.001) {
    const double middle = std::sqrt(low * high);
    (predicted_efficiency(model, gbit, ranks, middle, bucket_mib) < 0.9 ? low : high) = middle;
  }
  return high;
}

}  // namespace gradus::docs
