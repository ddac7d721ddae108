// DataParallel between ranks as threads: the same bits for any number of ranks and threads; its edges and
// errors.

#include "gradus/distributed/data_parallel.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <mutex>
#include <vector>

#include "check_op.h"
#include "distributed/cases.h"
#include "gradus/distributed/threads.h"
#include "gradus/gradus.h"
#include "threads_guard.h"
#include "values.h"

namespace gradus::test {

using distributed::Communicator;
using distributed::DataParallel;
using distributed::run_threads;
using distributed::Shard;

namespace {

/// What rank 0 computes, on `ranks` ranks.
template <class T>
T on_ranks(int ranks, const std::function<T(const Communicator&)>& compute) {
  T result{};
  run_threads(ranks, [&](const Communicator& world) {
    T own = compute(world);
    if (world.rank() == 0) result = std::move(own);
  });
  return result;
}

TrainingHashes trained(const std::string& name, int ranks, int threads, int steps) {
  const ThreadsGuard guard(threads);
  return on_ranks<TrainingHashes>(ranks,
                                  [&](const Communicator& world) { return train_case(name, world, steps); });
}

/// A bare weight [3], of which loss(shard) makes something.
struct Weight : nn::Module {
  nn::Parameter w = parameter("w", tensor({1.0, 2.0, 3.0}));
};

}  // namespace

TEST_CASE(
    "data parallel: bit-identical weights, optimizer and losses for 1, 2, 4 and 8 ranks with 1 and 2 "
    "threads") {
  for (const std::string& name : training_cases()) {
    CAPTURE(name);
    const TrainingHashes one = trained(name, 1, 1, 12);
    for (const int ranks : {1, 2, 4, 8})
      for (const int threads : {1, 2}) {
        CAPTURE(ranks);
        CAPTURE(threads);
        CHECK(trained(name, ranks, threads, 12) == one);
      }
    CHECK_FALSE(trained(name, 2, 1, 11) == one);  // the comparison can fail
  }
}

TEST_CASE("data parallel: the gradient and the loss are those of the whole batch") {
  const auto gradients = [](bool parallel, int ranks) {
    return on_ranks<std::vector<double>>(ranks, [&](const Communicator& world) {
      manual_seed(5);
      const DefaultDType guard(f64);
      const nn::Sequential model(nn::Linear(4, 6), tanh, nn::Linear(6, 2));
      Generator data(1);
      const Tensor x = randn({11, 4}, data), y = randn({11, 2}, data);
      double loss = 0;
      if (parallel) {
        DataParallel of(world, model, {.shards = 4, .bucket_bytes = 100});
        loss = of.backward(11, [&](const Shard& shard) { return mse_loss(model(shard(x)), shard(y)); });
      } else {
        const Tensor whole = mse_loss(model(x), y);
        whole.backward();
        loss = whole.item();
      }
      std::vector<double> all{loss};
      for (const Tensor& parameter : model.parameters())
        for (const double value : values(parameter.grad())) all.push_back(value);
      return all;
    });
  };
  const std::vector<double> whole = gradients(false, 1);
  for (const int ranks : {1, 2, 4}) {
    const std::vector<double> parallel = gradients(true, ranks);
    REQUIRE(parallel.size() == whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      CHECK(parallel[i] == doctest::Approx(whole[i]).epsilon(1e-12));
  }
}

TEST_CASE("data parallel: with products in bf16, the same bits for 1, 2 and 4 ranks") {
  const auto weights = [](int ranks, DType products) {
    return on_ranks<std::vector<double>>(ranks, [&](const Communicator& world) {
      manual_seed(5);
      const nn::Sequential model(nn::Linear(40, 70), tanh, nn::Linear(70, 5));
      optim::AdamW optimizer(model.parameters(), {.lr = 1e-2});
      DataParallel parallel(world, model, {.shards = 4});
      Generator data(1);
      for (int step = 0; step < 3; ++step) {
        const Tensor x = randn({22, 40}, data), y = randn({22, 5}, data);
        optimizer.zero_grad();
        parallel.backward(22, [&](const Shard& shard) {
          const Autocast guard(products);
          return mse_loss(model(shard(x)), shard(y));
        });
        optimizer.step();
      }
      std::vector<double> all;
      for (const Tensor& parameter : model.parameters())
        for (const double value : values(parameter)) all.push_back(value);
      return all;
    });
  };
  const std::vector<double> one = weights(1, bf16);
  CHECK(weights(2, bf16) == one);
  CHECK(weights(4, bf16) == one);
  CHECK(weights(1, f32) != one);
}

TEST_CASE("data parallel: means, sums, counts of 0, and shards without rows") {
  // Shard k of 4 has the loss k w . w; its count is k.
  for (const int ranks : {1, 2, 4})
    run_threads(ranks, [](const Communicator& world) {
      const Weight model;
      const Tensor w = model.w;
      DataParallel parallel(world, model, {.shards = 4});
      const auto square = [&](double factor) { return (w * w).sum() * factor; };
      const double mean = parallel.backward(4, [&](const Shard& shard) {
        return distributed::Mean{square(shard.index), static_cast<double>(shard.index)};
      });
      CHECK(mean == 14.0 * (1 + 4 + 9) / 6);
      const double sum = parallel.backward(4, [&](const Shard& shard) {
        return distributed::Sum{square(shard.index), static_cast<double>(shard.index)};
      });
      CHECK(sum == 14);
      CHECK(w.grad()[0].item() == doctest::Approx(2 * 14.0 / 6 + 2));  // added
      w.zero_grad();
      // NaN as the mean of no terms is not used.
      const double loss = parallel.backward(4, [&](const Shard& shard) {
        return distributed::Mean{square(shard.index == 2 ? NAN : 1), shard.index == 2 ? 0.0 : 1.0};
      });
      CHECK(loss == 14);
      CHECK(values(w.grad()) == Values{2, 4, 6});
      w.zero_grad();
      CHECK(parallel.backward(4, [&](const Shard&) { return distributed::Sum{square(1), 0}; }) == 0);
      CHECK((!w.grad().defined() || !w.grad().any()));
      // Two rows for four shards.
      const double few = parallel.backward(2, [&](const Shard& shard) {
        CHECK(shard.rows() == 1);
        return square(1 + static_cast<double>(shard.begin));
      });
      CHECK(few == 21);
      CHECK(values(w.grad()) == Values{3, 6, 9});
    });
}

TEST_CASE("data parallel: parameters without a gradient, in some shards or all, and frozen ones") {
  struct Net : nn::Module {
    nn::Parameter often = parameter("often", ones({2})), never = parameter("never", ones({3})),
                  rarely = parameter("rarely", ones({4})), frozen = parameter("frozen", ones({5}));
  };
  for (const int ranks : {1, 2, 8})
    run_threads(ranks, [](const Communicator& world) {
      Net net;
      net.frozen.requires_grad_(false);
      for (const bool sliced : {false, true}) {
        DataParallel parallel(world, net, {.bucket_bytes = 8, .shard_gradients = sliced});
        parallel.backward(8, [&](const Shard& shard) {
          const Tensor x = (net.often * net.frozen[0]).sum();
          return shard.index == 5 ? x + (net.rarely * 8).sum() : x;
        });
        CHECK_FALSE(net.never.grad().defined());
        CHECK_FALSE(net.frozen.grad().defined());
        CHECK(net.often.grad().defined() != sliced);
        if (sliced) continue;
        CHECK(values(net.often.grad()) == Values{1, 1});
        CHECK(values(net.rarely.grad()) == Values{1, 1, 1, 1});
        net.zero_grad();
      }
    });
}

TEST_CASE("data parallel: the shards' random numbers depend on seed, step and shard alone") {
  const auto drawn = [](int ranks, std::uint64_t seed, int skip) {
    std::vector<double> numbers(8);
    std::mutex mutex;
    run_threads(ranks, [&](const Communicator& world) {
      const Weight model;
      DataParallel parallel(world, model, {.seed = seed});
      manual_seed(99);
      const double before = Generator(default_generator()).uniform();
      for (int step = 0; step <= skip; ++step)
        parallel.backward(8, [&](const Shard& shard) {
          const double number = default_generator().uniform();
          const std::lock_guard lock(mutex);
          numbers[static_cast<std::size_t>(shard.index)] = number;
          return model.w.sum();
        });
      CHECK(default_generator().uniform() == before);
    });
    return numbers;
  };
  const std::vector<double> one = drawn(1, 3, 0);
  CHECK(drawn(8, 3, 0) == one);
  CHECK(drawn(2, 4, 0) != one);
  CHECK(drawn(2, 3, 1) != one);
  for (std::size_t i = 1; i < one.size(); ++i) CHECK(one[i] != one[0]);
}

TEST_CASE("data parallel: batch norm's statistics are means over the shards") {
  run_threads(2, [](const Communicator& world) {
    const nn::BatchNorm norm(1);
    DataParallel parallel(world, norm, {.shards = 2});
    // Rows 0 .. 5; a mean of 1 and one of 4, variances of 1.
    const Tensor x = arange(6).to(f32).reshape({6, 1});
    parallel.backward(6, [&](const Shard& shard) { return norm(shard(x)).sum(); });
    CHECK(norm.running_mean.item() == doctest::Approx(0.1 * 2.5));
    CHECK(norm.running_var.item() == doctest::Approx(0.9 + 0.1));
    CHECK(norm.num_batches_tracked.item() == 1);
  });
}

TEST_CASE("data parallel: buffers in bf16 are means over the shards, too") {
  struct Counter : nn::Module {
    nn::Parameter w = parameter("w", ones({1}));
    nn::Buffer seen = buffer("seen", zeros({1}, bf16));
  } model;
  DataParallel parallel(Communicator(), model, {.shards = 2});
  parallel.backward(6, [&](const Shard& shard) {
    model.seen.copy_(tensor({shard.index == 0 ? 1.0 : 4.0}));
    return model.w.sum();
  });
  CHECK(model.seen.dtype() == bf16);
  CHECK(model.seen.to(f32).item() == 2.5);
}

TEST_CASE("data parallel: a loss that throws changes nothing") {
  const Weight model;
  const nn::BatchNorm norm(2);
  struct Both : nn::Module {
    Both(const Weight& a, const nn::BatchNorm& b) { add("a", a), add("b", b); }
  } both(model, norm);
  DataParallel parallel(Communicator(), both, {.shards = 4});
  model.w.set_grad(tensor({5.0, 6.0, 7.0}));
  const auto state = default_generator().state();
  for (const int culprit : {0, 2, 3})
    check_error(
        [&] {
          parallel.backward(8, [&](const Shard& shard) {
            const Tensor loss = (model.w * norm(randn({4, 2})).sum()).sum();
            check(shard.index != culprit, "enough");
            return loss;
          });
        },
        "enough");
  CHECK(values(model.w.grad()) == Values{5, 6, 7});
  CHECK(norm.num_batches_tracked.item() == 0);
  CHECK(values(norm.running_mean) == Values{0, 0});
  CHECK(default_generator().state() == state);
  CHECK(parallel.steps() == 0);
  CHECK(parallel.backward(8, [&](const Shard&) { return model.w.sum(); }) == 6);
  CHECK(values(model.w.grad()) == Values{6, 7, 8});
}

TEST_CASE("data parallel: the position is saved and restored") {
  const auto run = [](bool restart) {
    manual_seed(8);
    const nn::Sequential model(nn::Linear(3, 8), nn::Dropout(0.5), nn::Linear(8, 1));
    optim::SGD opt(model.parameters(), {.lr = 0.1});
    const Tensor x = randn({8, 3});
    auto parallel = std::make_unique<DataParallel>(Communicator(), model);
    for (int step = 0; step < 6; ++step) {
      if (restart && step == 3) {
        const StateDict state = parallel->state_dict();
        parallel = std::make_unique<DataParallel>(Communicator(), model,
                                                  distributed::DataParallelOptions{.seed = 1});
        parallel->load_state_dict(state);
      }
      opt.zero_grad();
      parallel->backward(8, [&](const Shard& shard) { return model(shard(x)).square().mean(); });
      opt.step();
    }
    return values(model.parameters()[0]);
  };
  CHECK(run(true) == run(false));
  const Weight model;
  DataParallel parallel(Communicator(), model, {.shards = 2});
  check_error([&] { parallel.load_state_dict({}); },
              "DataParallel: the state has no number 'steps': it belongs to something else");
  check_error(
      [&] {
        parallel.load_state_dict({{"steps", tensor(3)}, {"shards", tensor(8)}, {"seed", tensor(1)}});
      },
      "DataParallel: the state is of 8 shards, this one has 2: with .shards = 8 it goes on as before");
}

TEST_CASE("data parallel: a rank that catches an error of its batch cannot go on alone") {
  CHECK_THROWS_WITH(distributed::run_threads(2,
                                             [](const distributed::Communicator& world) {
                                               manual_seed(0);
                                               const nn::Linear net(3, 1);
                                               distributed::DataParallel parallel(world, net, {.shards = 2});
                                               const Tensor x = ones({4, 3});
                                               for (int batch = 0; batch < 2; ++batch) try {
                                                   parallel.backward(4, [&](const distributed::Shard& shard) {
                                                     check(batch > 0 || world.rank() == 0, "a bad picture");
                                                     return net(shard(x)).mean();
                                                   });
                                                 } catch (const Error& error) {
                                                   if (std::string_view(error.what()).find("picture") ==
                                                       std::string_view::npos)
                                                     throw;
                                                 }
                                             }),
                    doctest::Contains("the ranks no longer agree"));
}

TEST_CASE("data parallel: messages") {
  const Weight model;
  const auto make = [&](const distributed::DataParallelOptions& options) {
    return [&model, options] { DataParallel(Communicator(), model, options); };
  };
  check_error(make({.shards = 6}), "DataParallel: expects shards of 1, 2, 4, 8, ..., got 6");
  check_error(make({.shards = 0}), "DataParallel: expects shards of 1, 2, 4, 8, ..., got 0");
  check_error(make({.bucket_bytes = 0}), "DataParallel: expects bucket_bytes of at least 1, got 0");
  check_error([] { DataParallel(Communicator(), nn::Module()); },
              "DataParallel: the model has no parameter to train");
  DataParallel parallel(Communicator(), model);
  check_error([&] { parallel.backward(0, [&](const Shard&) { return model.w.sum(); }); },
              "DataParallel::backward: expects a batch of at least one row, got 0");
  check_error([&] { parallel.backward(8, [&](const Shard&) { return Tensor(model.w); }); },
              "DataParallel::backward: expects a loss of one element, got [3]");
  check_error([&] { parallel.backward(8, [&](const Shard&) { return Tensor(); }); },
              "DataParallel::backward: expects a loss of one element, got an undefined tensor");
  check_error(
      [&] { parallel.backward(8, [&](const Shard&) {
              return distributed::Mean{model.w.sum(), -1};
            }); },
      "DataParallel::backward: expects a count of 0 or more, got -1");
  const auto message = [](const std::function<void(const Communicator&)>& main) {
    try {
      run_threads(4, main);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no failure");
  };
  CHECK(message([](const Communicator& world) {
          const Weight w;
          DataParallel(world, w, {.shards = 2});
        }) ==
        "DataParallel: 4 ranks need at least 4 shards, got 2: set .shards, on which the result depends");
  CHECK(message([](const Communicator& world) {
          manual_seed(world.rank() == 3 ? 1 : 0);
          const nn::Linear linear(2, 3);
          DataParallel(world, linear, {.seed = 1});
        })
            .starts_with("The model's parameters and buffers must be the same on all ranks. Different from "
                         "rank 0: rank 3. "));
  CHECK(message([](const Communicator& world) {
          const Weight w;
          DataParallel(world, w, {.seed = world.rank() == 1 ? 5u : 6u});
        })
            .starts_with(
                "DataParallel's options must be the same on all ranks. Different from rank 0: rank 1. "));
  CHECK(message([](const Communicator& world) {
          const Weight w;
          DataParallel of_four(world, w);
          of_four.backward(world.rank() == 2 ? 15 : 16, [&](const Shard&) { return w.w.sum(); });
        }) ==
        "DataParallel::backward: rank 2 has a batch of 15 rows, rank 0 one of 16: every rank passes the same "
        "batch");
}

}  // namespace gradus::test
