// Several user threads at once: each trains its own model, or all use one. Most of it is for the thread
// sanitizer; the results must be those of one thread alone.

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "gradus/gradus.h"
#include "threads_guard.h"

namespace gradus::test {
namespace {

constexpr int kJobs = 3;

nn::GPT small_gpt() {
  return nn::GPT(
      {.vocab = 30, .context = 24, .layers = 2, .block = {.d_model = 32, .heads = 2, .dropout = 0.1}});
}

/// The losses of a few training steps, from a seed.
std::vector<double> train(int seed, int steps) {
  manual_seed(static_cast<std::uint64_t>(seed));
  const nn::GPT gpt = small_gpt();
  optim::AdamW opt(gpt.parameters(), {.lr = 3e-3});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor ids = randint(0, 30, {7, 24}), targets = randint(0, 30, {7, 24});
    opt.zero_grad();
    const Tensor loss = gpt.loss(ids, targets);
    loss.backward();
    optim::clip_grad_norm(gpt.parameters(), 1.0);
    opt.step();
    losses.push_back(loss.item());
  }
  return losses;
}

/// job(0) .. job(kJobs - 1), each on a thread of its own, while the number of pool threads changes.
template <class Job>
void at_once(Job job) {
  const ThreadsGuard guard(num_threads());  // puts the number back
  std::atomic<int> running = kJobs;
  std::vector<std::thread> threads;
  for (int id = 0; id < kJobs; ++id)
    threads.emplace_back([&running, job, id] {
      job(id);
      --running;
    });
  for (int round = 0; running > 0; ++round) {
    set_num_threads(1 + round % 4);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("several threads train separate models: the same losses as alone") {
  constexpr int steps = 6;
  std::vector<std::vector<double>> alone, together(kJobs);
  for (int id = 0; id < kJobs; ++id) alone.push_back(train(id, steps));
  CHECK(alone[0] != alone[1]);
  at_once([&](int id) { together[static_cast<std::size_t>(id)] = train(id, steps); });
  CHECK(together == alone);
}

TEST_CASE("several threads share the weights of one model: evaluation, with and without a tape, generation") {
  manual_seed(1);
  nn::GPT gpt = small_gpt();
  gpt.eval();
  const Tensor ids = randint(0, 30, {5, 24}), targets = randint(0, 30, {5, 24}),
               prompt = randint(0, 30, {1, 4});
  const auto evaluate = [&](int seed) {
    std::vector<double> numbers = {gpt.loss(ids, targets).item()};  // on a tape without backward
    const NoGrad guard;
    numbers.push_back(gpt(ids).square().mean().item());
    manual_seed(static_cast<std::uint64_t>(seed));
    for (double token : gpt.generate(prompt, 6).to_vector<double>()) numbers.push_back(token);
    return numbers;
  };
  const std::vector<double> alone = evaluate(3);
  std::vector<int> wrong(kJobs);
  at_once([&](int id) {
    for (int round = 0; round < 5; ++round) wrong[static_cast<std::size_t>(id)] += evaluate(3) != alone;
  });
  CHECK(wrong == std::vector<int>(kJobs));
  for (const Tensor& parameter : gpt.parameters()) CHECK_FALSE(parameter.grad().defined());
}

TEST_CASE(
    "several threads generate from one model in training mode: no dropout, and the mode does not change") {
  manual_seed(1);
  const nn::GPT gpt = small_gpt();
  const Tensor prompt = randint(0, 30, {1, 4});
  const auto generate = [&] {
    manual_seed(5);
    return gpt.generate(prompt, 8).to_vector<std::int64_t>();
  };
  const std::vector<std::int64_t> alone = generate();
  std::vector<int> wrong(kJobs);
  at_once([&](int id) {
    for (int round = 0; round < 5; ++round) wrong[static_cast<std::size_t>(id)] += generate() != alone;
  });
  CHECK(wrong == std::vector<int>(kJobs));
  CHECK(gpt.is_training());
}

TEST_CASE("training inside parallel_for, and an op's error thrown out of it") {
  std::vector<std::vector<double>> alone, nested(4);
  for (int id = 0; id < 4; ++id) alone.push_back(train(id, 2));
  const ThreadsGuard guard(3);
  parallel_for(4, 1, [&](std::int64_t begin, std::int64_t) {
    nested[static_cast<std::size_t>(begin)] = train(static_cast<int>(begin), 2);
  });
  CHECK(nested == alone);
  const Tensor a = ones({2, 3}), b = ones({2, 3});
  CHECK_THROWS_WITH_AS(parallel_for(4, 1, [&](std::int64_t, std::int64_t) { matmul(a, b); }),
                       doctest::Contains("matmul: a [2, 3] and b [2, 3] do not match"), Error);
  CHECK(train(0, 2) == alone[0]);  // and the pool still works
}

}  // namespace gradus::test
