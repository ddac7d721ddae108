// A GPT is trained, stopped and resumed with other numbers of threads, again and again: the same bits each
// time, and no more memory and open files than after the first time. GRADUS_SOAK_MINUTES=120 goes on for so
// long.

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "gradus/gradus.h"
#include "gradus/kit/program/training_run.h"
#include "support.h"
#include "threads_guard.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 60;

struct Stopped {};

/// The weights after kSteps steps; Stopped leaves the step `stop`.
StateDict weights_after_training(const fs::path& folder, int threads, std::int64_t stop, bool resume) {
  const ThreadsGuard guard(threads);
  manual_seed(7);
  const nn::GPT gpt(
      {.vocab = 40, .context = 16, .layers = 2, .block = {.d_model = 24, .heads = 2, .dropout = 0.1}});
  optim::AdamW optimizer(gpt.parameters(), {.lr = 3e-3});
  const Tensor text = randint(0, 40, {64, 17});
  data::DataLoader loader({text}, {.batch_size = 8, .shuffle = true});
  kit::TrainingRun run({.steps = kSteps, .folder = folder, .resume = resume, .checkpoint_steps = 10});
  run.keep("model", gpt);
  run.keep("optimizer", optimizer);
  run.keep("loader", loader);
  run.train([&](std::int64_t step) -> kit::StepResult {
    if (step == stop) throw Stopped();
    const Tensor batch = loader.next()[0];
    optimizer.zero_grad();
    const Tensor loss = gpt.loss(batch.slice(1, 0, 16), batch.slice(1, 1));
    loss.backward();
    optimizer.step();
    CHECK(std::isfinite(loss.item()));
    return {loss.item()};
  });
  return gpt.state_dict().clone();
}

bool same(const StateDict& a, const StateDict& b) {
  for (const auto& [name, w] : a)
    if (!(w == b.at(name)).all()) return false;
  return a.size() == b.size();
}

struct Taken {
  double memory = 0;  // resident, in bytes
  std::int64_t files = 0, tensors = 0, nodes = 0;
};

Taken taken_now() {
  empty_cache();
  Taken taken;
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  taken.memory = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  taken.files = std::distance(fs::directory_iterator("/proc/self/fd"), {});
  taken.tensors = memory_stats().live_bytes;
  taken.nodes = live_nodes();
  return taken;
}

}  // namespace

TEST_CASE(
    "soak: a training stopped and resumed with other numbers of threads keeps its bits and its memory") {
  const char* const given = std::getenv("GRADUS_SOAK_MINUTES");
  const double seconds = given ? 60 * std::atof(given) : 0;
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::optional<StateDict> whole;
  {
    const ScratchFolder folder;
    whole = weights_after_training(folder / "run", 1, 0, false);
  }
  std::optional<Taken> first;
  double most = 0;
  int rounds = 0;
  for (; rounds < 4 || passed() < seconds; ++rounds) {
    const ScratchFolder folder;
    const fs::path run = folder / "run";
    bool resume = false;
    int threads = 1;
    for (const std::int64_t stop : {15, 31, 52}) {
      CHECK_THROWS_AS(weights_after_training(run, threads, stop, resume), Stopped);
      resume = true;
      threads = threads % 4 + 1;
    }
    REQUIRE(same(weights_after_training(run, threads, 0, true), *whole));
    const Taken taken = taken_now();
    if (rounds == 1) first = taken;
    if (rounds < 2) continue;
    most = std::max(most, taken.memory);
    CHECK(taken.files == first->files);
    CHECK(taken.tensors == first->tensors);
    CHECK(taken.nodes == first->nodes);
    CHECK(taken.memory < 1.01 * first->memory + 2'000'000);  // what malloc keeps comes and goes
  }
  MESSAGE(rounds << " rounds of " << kSteps << " steps; memory " << first->memory << ", at most " << most);
}

}  // namespace gradus::test
