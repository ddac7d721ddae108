// A whole training step in which each allocation fails once.

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "failing_new.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/clip.h"
#include "gradus/optim/plateau.h"
#include "gradus/optim/sgd.h"
#include "memory_limit.h"
#include "support.h"
#include "train_gpt.h"

using namespace gradus;
using namespace gradus::test;

namespace {

double two_steps() {
  return train_gpt({.vocab = 11,
                    .context = 6,
                    .layers = 2,
                    .block = {.d_model = 8, .heads = 2, .dropout = 0.1},
                    .checkpoint = true},
                   3);
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

// In a separate process: otherwise malloc may have memory left from other tests.
TEST_CASE("child: clipping under limits of memory" * doctest::skip()) {
  const SingleThread alone;
  const Tensor a = zeros({512, 1024}).requires_grad_(), b = zeros({512, 1024}).requires_grad_();
  const Tensor of_a = full({512, 1024}, 3.0), of_b = full({1024, 512}, 3.0);
  int right = 0, errors = 0, torn = 0;
  for (const bool by_value : {false, true})
    for (std::size_t room = MiB / 4; room < 12 * MiB; room += MiB / 2) {
      a.set_grad(of_a.clone());
      b.set_grad(of_b.clone().transpose(0, 1));
      REQUIRE(!b.grad().is_contiguous());
      empty_cache();
      REQUIRE(limit_memory(room));
      bool clipped = true;
      try {
        if (by_value)
          optim::clip_grad_value({a, b}, 0.5);
        else
          optim::clip_grad_norm({a, b}, 1.0);
        ++right;
      } catch (const Error&) {
        clipped = false;
        ++errors;
      }
      limit_memory();
      for (const Tensor& w : {a, b}) torn += clipped ? !(w.grad() < 1).all() : !(w.grad() == 3).all();
    }
  if (right > 10 && errors > 5 && torn == 0) std::printf("<<good>>");
}

TEST_CASE("out of memory: at any limit of memory, clipping changes all gradients or none") {
  CHECK(output_of_child("", "child: clipping under limits*").find("<<good>>") != std::string::npos);
}

TEST_CASE("out of memory: ReduceLROnPlateau lowers the rates of all groups or none, and counts only then") {
  const SingleThread alone;
  const Tensor a = zeros({2}).requires_grad_(), b = zeros({2}).requires_grad_(),
               c = zeros({2}).requires_grad_();
  const optim::Schedule warmup = optim::warmup_linear(0.1, 10);
  optim::SGD optimizer(
      {{.parameters = {a}}, {.parameters = {b}, .lr = warmup}, {.parameters = {c}, .lr = warmup}},
      {.lr = 1.0});
  optim::ReduceLROnPlateau plateau(optimizer, {.factor = 0.5, .patience = 0});
  plateau.step(1.0);
  const StateDict before = plateau.state_dict();
  const auto prepare = [&] {
    for (const std::size_t group : {1U, 2U}) optimizer.set_lr(warmup, group);
    plateau.load_state_dict(before);
  };
  const auto unchanged = [&] {
    must(optimizer.lr(0) == 1 && optimizer.lr(1) == warmup(1) && optimizer.lr(2) == warmup(1));
    for (const auto& [name, values] : plateau.state_dict())
      must(allclose(values, before.at(name), 0, 0, /*equal_nan=*/true));
  };
  CHECK(all_or_nothing(
            prepare, [&] { plateau.step(2.0); }, unchanged) > 1);
  CHECK(optimizer.lr(0) == 0.5);
  CHECK(optimizer.lr(2) == doctest::Approx(warmup(1) / 2));
  const StateDict halved = plateau.state_dict();
  CHECK(all_or_nothing(
            prepare, [&] { plateau.load_state_dict(halved); }, unchanged) > 1);
  CHECK(optimizer.lr(1) == doctest::Approx(warmup(1) / 2));
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

TEST_CASE("out of memory: the program's own handler is called when the cache is empty") {
  const std::string output = test::output_of_child("", "child: a handler of the program*");
  CHECK(output.find("<<own>>") != std::string::npos);
  CHECK(output.find("<<too late>>") == std::string::npos);
}
