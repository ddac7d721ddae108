// Sharded optimizers: the bits of whole ones, in 1/n of the memory; states that any number of ranks can load.

#include "gradus/distributed/sharded.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "check_op.h"
#include "distributed/cases.h"
#include "gradus/distributed/threads.h"
#include "gradus/gradus.h"
#include "values.h"

namespace gradus::test {

using distributed::Communicator;
using distributed::DataParallel;
using distributed::run_threads;
using distributed::Shard;
using distributed::Sharded;

namespace {

nn::Sequential wide_net() { return nn::Sequential(nn::Linear(100, 200), tanh, nn::Linear(200, 100)); }

}  // namespace

TEST_CASE("sharded: the bits of the same optimizer without it") {
  TrainingHashes whole, sharded, sliced;
  run_threads(1, [&](const Communicator& world) { whole = train_case("gpt", world, 10); });
  run_threads(4, [&](const Communicator& world) {
    const TrainingHashes one = train_case("gpt-sharded", world, 10),
                         two = train_case("gpt-sliced", world, 10);
    if (world.rank() == 0) sharded = one, sliced = two;
  });
  CHECK(sharded == whole);
  CHECK(sliced == whole);
}

/// Three steps with groups, each optimizer of the library.
template <class Optimizer>
void check_optimizer(const typename Optimizer::Options& options) {
  std::optional<StateDict> weights, state;
  for (const int ranks : {0, 1, 4})  // 0: without Sharded
    run_threads(std::max(ranks, 1), [&](const Communicator& world) {
      manual_seed(2);
      const nn::Sequential model = wide_net();
      DataParallel parallel(world, model, {.bucket_bytes = 50'000, .shard_gradients = ranks > 0});
      const std::vector<Tensor> all = model.parameters();
      const std::vector<optim::ParameterGroup> groups{{.parameters = {all[2], all[0]}, .weight_decay = 0.1},
                                                      {.parameters = {all[1], all[3]}, .lr = 0.02}};
      std::optional<Optimizer> plain;
      std::optional<Sharded<Optimizer>> sharded;
      ranks == 0 ? void(plain.emplace(groups, options)) : void(sharded.emplace(parallel, groups, options));
      Generator data(1);
      for (int step = 0; step < 3; ++step) {
        const Tensor x = randn({8, 100}, data);
        ranks == 0 ? plain->zero_grad() : sharded->zero_grad();
        parallel.backward(8, [&](const Shard& shard) { return mse_loss(model(shard(x)), shard(x)); });
        const double norm = ranks == 0 ? optim::clip_grad_norm(all, 0.01) : sharded->clip_grad_norm(0.01);
        CHECK(norm > 0.01);
        ranks == 0 ? plain->step() : sharded->step();
      }
      const StateDict mine = ranks == 0 ? plain->state_dict() : sharded->state_dict();
      if (world.rank() != 0) return;
      if (ranks == 0) {
        weights = model.state_dict().clone(), state = mine;
        return;
      }
      REQUIRE(mine.size() == state->size());
      for (const StateDict::Entry& entry : *state) {
        CAPTURE(entry.first);
        CHECK(mine.at(entry.first).shape() == entry.second.shape());
        CHECK((mine.at(entry.first) == entry.second).all());
      }
      for (const auto& [name, values] : *weights) CHECK((model.state_dict().at(name) == values).all());
    });
}

TEST_CASE("sharded: every optimizer, with groups and clipping") {
  check_optimizer<optim::Adam>({.lr = 0.01, .weight_decay = 0.05});
  check_optimizer<optim::AdamW>({.lr = 0.01});
  check_optimizer<optim::SGD>({.lr = 0.1, .momentum = 0.9, .nesterov = true});
  check_optimizer<optim::RMSprop>({.lr = 0.01});
  check_optimizer<optim::RAdam>({.lr = 0.01});
}

TEST_CASE("sharded: a state is saved by 4 ranks and loaded by 2, or by an optimizer without Sharded") {
  const auto step = [](const nn::Sequential& model, DataParallel& parallel, auto& opt, Generator& data) {
    const Tensor x = randn({8, 100}, data);
    opt.zero_grad();
    parallel.backward(8, [&](const Shard& shard) { return mse_loss(model(shard(x)), shard(x)); });
    opt.step();
  };
  StateDict saved_model, saved_state, last_model;
  run_threads(4, [&](const Communicator& world) {
    manual_seed(1);
    const nn::Sequential model = wide_net();
    DataParallel parallel(world, model, {.shard_gradients = true});
    Sharded<optim::AdamW> opt(parallel, model.parameters(), {.lr = 1e-2});
    Generator data(1);
    for (int i = 0; i < 2; ++i) step(model, parallel, opt, data);
    const StateDict state = opt.state_dict();
    if (world.rank() == 0) saved_model = model.state_dict().clone(), saved_state = state;
    for (int i = 0; i < 2; ++i) step(model, parallel, opt, data);
    CHECK(opt.steps() == 4);
    if (world.rank() == 0) last_model = model.state_dict().clone();
  });
  const auto expect_last = [&](const nn::Sequential& model) {
    for (const auto& [name, values] : last_model) CHECK((model.state_dict().at(name) == values).all());
  };
  const auto after_two = [&] {
    Generator data(1);
    for (int i = 0; i < 2; ++i) randn({8, 100}, data);
    return data;
  };
  run_threads(2, [&](const Communicator& world) {
    const nn::Sequential model = wide_net();
    model.load_state_dict(saved_model);
    DataParallel parallel(world, model, {.shard_gradients = true});
    Sharded<optim::AdamW> opt(parallel, model.parameters(), {.lr = 1e-2});
    opt.load_state_dict(saved_state);
    Generator data = after_two();
    for (int i = 0; i < 2; ++i) step(model, parallel, opt, data);
    expect_last(model);
  });
  const nn::Sequential model = wide_net();
  model.load_state_dict(saved_model);
  DataParallel parallel(Communicator(), model);
  optim::AdamW opt(model.parameters(), {.lr = 1e-2});
  opt.load_state_dict(saved_state);
  Generator data = after_two();
  for (int i = 0; i < 2; ++i) step(model, parallel, opt, data);
  expect_last(model);
}

TEST_CASE("sharded: slices of gradients are added to, and their norm may overflow or be 0") {
  struct Weight : nn::Module {
    nn::Parameter w = parameter("w", zeros({3 * 4096 + 5}, f64));
  };
  run_threads(2, [](const Communicator& world) {
    const Weight model;
    DataParallel parallel(world, model, {.shards = 2, .shard_gradients = true});
    Sharded<optim::SGD> opt(parallel, model.parameters(), {.lr = 1});
    const auto backward = [&](double factor) {
      parallel.backward(2, [&](const Shard&) { return (model.w * factor).sum(); });
    };
    const double root = std::sqrt(3 * 4096 + 5);
    backward(2);
    backward(3);
    CHECK(opt.clip_grad_norm(1e9) == doctest::Approx(5 * root));
    opt.step();
    CHECK(values(model.w.slice(0, 0, 1)) == Values{-5});
    CHECK((model.w == -5).all());
    opt.zero_grad();
    backward(1e200);
    CHECK(opt.clip_grad_norm(root) == doctest::Approx(1e200 * root));
    opt.step();
    CHECK((abs(model.w + 6) < 1e-9).all());
    opt.zero_grad();
    backward(0);
    CHECK(opt.clip_grad_norm(1) == 0);
  });
}

TEST_CASE("sharded: each rank has its part of the state and of the gradients") {
  // Measured by one rank at a time; ranks are threads of this process.
  for (const int ranks : {1, 4})
    run_threads(ranks, [&](const Communicator& world) {
      const nn::Linear model(1024, 1024, {.bias = false});
      DataParallel parallel(world, model, {.shard_gradients = true});
      Sharded<optim::AdamW> opt(parallel, model.parameters(), {.lr = 1e-2});
      const Tensor x = ones({8, 1024});
      parallel.backward(8, [&](const Shard& shard) { return model(shard(x)).sum(); });
      world.barrier();
      const std::int64_t before = memory_stats().live_bytes;
      world.barrier();
      opt.step();
      world.barrier();
      const std::int64_t added = memory_stats().live_bytes - before;  // of all ranks together: two averages
      CHECK(added >= 2 * 4 * 1024 * 1024);
      CHECK(added < 2 * 4 * 1024 * 1024 + 100'000);
      world.barrier();
    });
}

TEST_CASE("sharded: messages") {
  const nn::Linear model(2, 3), other(2, 3);
  DataParallel parallel(Communicator(), model);
  check_error([&] { Sharded<optim::SGD>(parallel, other.parameters()); },
              "Sharded: parameter 0 is not one that the DataParallel trains: pass parameters of its model "
              "that were not frozen when it was made");
  check_error([&] { Sharded<optim::SGD>(parallel, std::vector<Tensor>{}); },
              "SGD: got no parameters: pass model.parameters(), of a model whose parts are declared as "
              "`nn::Linear fc = add(\"fc\", nn::Linear(...));`");
  check_error(
      [&] {
        Sharded<optim::SGD>(parallel, std::vector<Tensor>{model.weight, model.weight});
      },
      "Sharded: parameter 1 is given twice");
  CHECK_THROWS_WITH(run_threads(2,
                                [](const Communicator& world) {
                                  manual_seed(0);
                                  const nn::Linear net(2, 3);
                                  DataParallel all(world, net);
                                  std::vector<Tensor> mine = net.parameters();
                                  if (world.rank() == 1) mine.pop_back();
                                  Sharded<optim::SGD> differs(all, mine);
                                }),
                    doctest::Contains("Sharded's groups of parameters must be the same on all ranks"));
  Sharded<optim::SGD> opt(parallel, model.parameters(), {.momentum = 0.9});
  check_error(
      [&] { opt.step(); },
      "SGD: no parameter has a gradient: call backward() before step(), and zero_grad() before backward()");
  check_error([&] { opt.clip_grad_norm(0); }, "clip_grad_norm: expects a max_norm above 0, got 0");
  parallel.backward(8, [&](const Shard&) { return model(ones({1, 2})).sum(); });
  opt.step();
  StateDict state = opt.state_dict();
  state.set("0.momentum_buffer", zeros({6}));
  check_error([&] { opt.load_state_dict(state); },
              "Sharded: the momentum_buffer of Linear.weight [3, 2] is [6] in the state, expects [3, 2]");
}

}  // namespace gradus::test
