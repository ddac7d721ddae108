#include "bench/in_turn.h"

#include <chrono>

#include "bench/comparison.h"
#include "gradus/gradus.h"

namespace gradus::bench {

namespace {

using Clock = std::chrono::steady_clock;

double timed(const Step& step) {
  const auto start = Clock::now();
  step();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Steps for some time.
void take_turn(const Step& step, double seconds, std::vector<double>& times) {
  step();  // caches are another variant's
  double sum = 0;
  for (int i = 0; i < 2 || sum < seconds; ++i) {
    times.push_back(timed(step));
    sum += times.back();
  }
}

struct Settings {
  Isa isa = current_isa();
  MatmulBackend matmul = matmul_backend();
  int threads = num_threads();
};

}  // namespace

void restore_settings() {
  static const Settings settings;
  set_isa(settings.isa);
  set_matmul_backend(settings.matmul);
  set_num_threads(settings.threads);
}

std::vector<Figures> in_turn(const std::vector<Variant>& variants, const Turns& turns) {
  restore_settings();
  std::vector<Figures> figures(variants.size());
  std::vector<Step> steps;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    variants[i].enter();
    empty_cache();
    const std::int64_t before = memory_stats().live_bytes;
    manual_seed(0);
    steps.push_back(variants[i].make());
    for (double spent = 0, n = 0; n < 2 || (n < 50 && spent < turns.seconds); ++n) spent += timed(steps[i]);
    reset_peak_memory();
    steps[i]();
    figures[i].peak_bytes = memory_stats().peak_bytes - before;
  }
  std::vector<std::vector<double>> times(variants.size());
  for (int round = 0; round < turns.rounds; ++round)
    for (std::size_t i = 0; i < variants.size(); ++i) {
      variants[i].enter();
      take_turn(steps[i], turns.seconds, times[i]);
    }
  for (std::size_t i = 0; i < variants.size(); ++i) figures[i].seconds = median(times[i]);
  steps.clear();
  restore_settings();
  empty_cache();
  return figures;
}

}  // namespace gradus::bench
