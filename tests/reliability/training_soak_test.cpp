// A GPT is trained, stopped and resumed with other numbers of threads, again and again: the same bits each
// time.

#include <doctest/doctest.h>

#include <cmath>
#include <optional>

#include "gradus/gradus.h"
#include "gradus/kit/program/training_run.h"
#include "soak.h"
#include "support.h"
#include "threads_guard.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

struct Stopped {};

/// Steps, and after how many there is a checkpoint.
struct Amount {
  std::int64_t steps, every;
};

/// The weights after all steps; Stopped leaves the step `stop`.
StateDict weights_after_training(const fs::path& folder, Amount amount, int threads, std::int64_t stop,
                                 bool resume) {
  const ThreadsGuard guard(threads);
  manual_seed(7);
  const nn::GPT gpt(
      {.vocab = 40, .context = 16, .layers = 2, .block = {.d_model = 24, .heads = 2, .dropout = 0.1}});
  optim::AdamW optimizer(gpt.parameters(), {.lr = 3e-3});
  const Tensor text = randint(0, 40, {64, 17});
  data::DataLoader loader({text}, {.batch_size = 8, .shuffle = true});
  kit::TrainingRun run(
      {.steps = amount.steps, .folder = folder, .resume = resume, .checkpoint_steps = amount.every});
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

}  // namespace

TEST_CASE(
    "soak: a training stopped and resumed with other numbers of threads keeps its bits and its memory") {
  Soak soak("training");
  const Amount amount = soak.is_long() ? Amount{300, 50} : Amount{60, 10};
  std::optional<StateDict> whole;
  {
    const ScratchFolder folder;
    whole = weights_after_training(folder / "run", amount, 1, 0, false);
  }
  while (soak.more()) {
    const ScratchFolder folder;
    const fs::path run = folder / "run";
    bool resume = false;
    int threads = 1;
    for (const std::int64_t percent : {25, 52, 87}) {
      const std::int64_t stop = amount.steps * percent / 100;
      CHECK_THROWS_AS(weights_after_training(run, amount, threads, stop, resume), Stopped);
      resume = true;
      threads = threads % 4 + 1;
    }
    REQUIRE(same(weights_after_training(run, amount, threads, 0, true), *whole));
  }
}

}  // namespace gradus::test
