// Eight threads train a student each, all from one frozen teacher: the losses and weights of each are those
// of the same training alone.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "gradus/gradus.h"
#include "soak.h"
#include "threads_guard.h"

namespace gradus::test {

namespace {

struct Taught {
  std::vector<double> losses;
  std::vector<Tensor> weights;

  bool operator==(const Taught& other) const {
    if (losses != other.losses || weights.size() != other.weights.size()) return false;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (!equal(weights[i], other.weights[i])) return false;
    return true;
  }
};

nn::GPT gpt_of(std::int64_t layers, std::int64_t d_model) {
  return nn::GPT({.vocab = 32,
                  .context = 16,
                  .layers = layers,
                  .block = {.d_model = d_model, .heads = 2, .dropout = 0.1}});
}

/// Half of the loss is the text's, half the teacher's at temperature 2 (Hinton et al. 2015).
Taught teach(const nn::GPT& teacher, std::uint64_t seed, int steps) {
  manual_seed(seed);
  const nn::GPT student = gpt_of(1, 16);
  optim::AdamW optimizer(student.parameters(), {.lr = 3e-3});
  Taught taught;
  for (int step = 0; step < steps; ++step) {
    const Tensor text = randint(0, 32, {4, 17});
    const Tensor ids = text.slice(1, 0, 16), targets = text.slice(1, 1);
    const Tensor wanted = softmax(teacher(ids) / 2, -1);
    optimizer.zero_grad();
    const Tensor logits = student(ids);
    const Tensor loss = 0.5 * cross_entropy(logits.reshape({64, 32}), targets.reshape({64})) +
                        2.0 * kl_div(log_softmax(logits / 2, -1), wanted, Reduction::sum) / 64;
    loss.backward();
    optim::clip_grad_norm(student.parameters(), 1.0);
    optimizer.step();
    taught.losses.push_back(loss.item());
  }
  for (const Tensor& w : student.parameters()) taught.weights.push_back(w.detach().clone());
  return taught;
}

}  // namespace

TEST_CASE("soak: eight threads train students of one frozen teacher as each would alone") {
  constexpr std::size_t kStudents = 8;
  manual_seed(0);
  nn::GPT teacher = gpt_of(2, 32);
  teacher.requires_grad_(false);
  teacher.eval();
  const StateDict before = teacher.state_dict().clone();
  Soak soak("teacher", 16, 4);
  const int steps = soak.is_long() ? 40 : 8;
  std::vector<Taught> alone;
  for (std::size_t i = 0; i < kStudents; ++i) {
    alone.push_back(teach(teacher, i, steps));
    for (const double loss : alone.back().losses) REQUIRE(std::isfinite(loss));
  }
  REQUIRE(alone[0].losses != alone[1].losses);
  while (soak.more()) {
    const ThreadsGuard guard(num_threads());  // puts the number back
    std::vector<char> same(kStudents);
    std::atomic<std::size_t> running = kStudents;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kStudents; ++i)
      threads.emplace_back([&, i] {
        same[i] = teach(teacher, i, steps) == alone[i];
        --running;
      });
    for (int count = 0; running > 0; ++count) {
      set_num_threads(1 + count % 4);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(same == std::vector<char>(kStudents, 1));
  }
  for (const auto& [name, w] : teacher.state_dict()) {
    CHECK(equal(w, before.at(name)));
    CHECK(!w.grad().defined());
  }
}

}  // namespace gradus::test
