// A whole training step whose every allocation fails once.

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "failing_new.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

/// The loss of a second step.
double two_steps() {
  manual_seed(0);
  const nn::GPT gpt({.vocab = 11,
                     .context = 6,
                     .layers = 2,
                     .block = {.d_model = 8, .heads = 2, .dropout = 0.1},
                     .checkpoint = true});
  optim::AdamW optimizer(gpt.parameters(), {.lr = 0.01});
  const Tensor text = randint(0, 11, {3, 7}), ids = text.slice(1, 0, 6), next = text.slice(1, 1);
  double last = 0;
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const Tensor loss = gpt.loss(ids, next);
    loss.backward();
    optim::clip_grad_norm(gpt.parameters(), 1.0);
    optimizer.step();
    last = loss.item();
  }
  return last;
}

void take_and_give_back() {
  void* volatile memory = ::operator new(100);  // volatile: else the compiler does without
  ::operator delete(memory);
}

[[noreturn]] void own_handler() {
  std::printf("<<own>>\n");
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

TEST_CASE("out of memory: any allocation of a training step may fail, and the next run is right") {
  const SingleThread alone;
  const double loss = two_steps();
  const auto run = [&] { must(two_steps() == loss); };
  CHECK(with_every_allocation_failing([] { empty_cache(); }, run, 100) > 100);
  CHECK(with_every_allocation_failing([] {}, run, 100) > 0);
  CHECK(two_steps() == loss);
}

TEST_CASE("child: a handler of the program's own" * doctest::skip()) {
  if (memory_stats().total_allocations > 0) std::printf("<<too late>>\n");
  std::set_new_handler(own_handler);
  { const Tensor cached = zeros({1000}); }
  {
    const FailingNew armed(0, false);  // is given what the cache holds
    take_and_give_back();
  }
  const FailingNew armed(0, false);
  take_and_give_back();
}

TEST_CASE("out of memory: a handler the program has set before is asked when the cache is empty") {
  const std::string output = test::output_of_child("", "child: a handler of the program*");
  CHECK(output.find("<<own>>") != std::string::npos);
  CHECK(output.find("<<too late>>") == std::string::npos);
}
