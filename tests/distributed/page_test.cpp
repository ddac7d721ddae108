// What docs/many_machines.md quotes.

#include <doctest/doctest.h>

#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"

namespace gradus::test {

namespace {

double train_t5(const distributed::Communicator& world) {
  manual_seed(0);
  const nn::T5 t5(
      {.vocab = 20, .d_model = 16, .d_ff = 32, .heads = 2, .encoder_layers = 1, .decoder_layers = 1});
  distributed::DataParallel parallel(world, t5);
  const Tensor x = randint(2, 20, {8, 6}), lengths = arange(8).reshape({8, 1}) % 5, place = arange(6);
  const Tensor y = where(place < lengths, x, where(place == lengths, tensor(1), tensor(0)));
  const std::int64_t pad = 0;
  // [padding]
  const double loss = parallel.backward(x.size(0), [&](const distributed::Shard& shard) {
    const Tensor targets = shard(y);
    const double tokens = (targets != pad).to(i64).sum().item();
    return distributed::Mean{t5.loss(shard(x), targets), tokens};
  });
  // [/padding]
  return loss;
}

void train_gpt(const distributed::Communicator& world) {
  manual_seed(0);
  const nn::GPT gpt({.vocab = 20, .context = 8, .layers = 1, .block = {.d_model = 16, .heads = 2}});
  const Tensor text = randint(0, 20, {8, 9}), x = text.slice(1, 0, 8), y = text.slice(1, 1);
  const int steps = 2;
  // [sharded]
  distributed::DataParallel parallel(world, gpt, {.shard_gradients = true});
  distributed::Sharded<optim::AdamW> opt(parallel, gpt.parameters(), {.lr = 1e-3});
  for (int step = 0; step < steps; ++step) {
    opt.zero_grad();
    parallel.backward(x.size(0),
                      [&](const distributed::Shard& shard) { return gpt.loss(shard(x), shard(y)); });
    opt.clip_grad_norm(1.0);
    opt.step();
  }
  // [/sharded]
  CHECK(opt.steps() == steps);
}

}  // namespace

TEST_CASE("many machines: what the page quotes") {
  double whole = train_t5(distributed::Communicator());
  CHECK(whole > 0);
  // [threads]
  distributed::run_threads(4, [&](const distributed::Communicator& world) {
    const double loss = train_t5(world);
    CHECK(loss == whole);  // on every rank
  });
  // [/threads]
  distributed::run_threads(2, train_gpt);
}

}  // namespace gradus::test
