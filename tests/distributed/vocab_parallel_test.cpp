// VocabParallelEmbedding and VocabParallelHead between ranks as threads: against the undivided ops, by
// central differences, their edges and errors. cases.cpp has a training.

#include "gradus/distributed/model_parallel/vocab_parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "check_op.h"
#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"
#include "values.h"

namespace gradus::test {

using distributed::Communicator;
using distributed::run_threads;
using distributed::VocabParallelEmbedding;
using distributed::VocabParallelHead;
using distributed::VocabParallelWeight;

namespace {

/// The gradient of the whole weight.
Tensor whole_grad(const Communicator& world, const VocabParallelWeight& weight) {
  StateDict own;
  for (const auto& [name, parameter] : weight.named_parameters()) own.set(name, parameter.grad());
  std::vector<Tensor> parts;
  for (const auto& [name, gradient] : distributed::gather(world, own)) parts.push_back(gradient);
  return cat(parts, 0);
}

void check_near(const Tensor& a, const Tensor& b, double epsilon) {
  REQUIRE(a.shape() == b.shape());
  const Values x = values(a), y = values(b);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(x[i] - y[i]) <= epsilon * (1 + std::abs(y[i])));
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::string failure_of_ranks(int ranks, const std::function<void(const Communicator&)>& main) {
  try {
    run_threads(ranks, main);
  } catch (const Error& error) {
    return error.what();
  }
  return "no failure";
}

}  // namespace

TEST_CASE("vocab parallel: the embedding and its gradient are those of the undivided one, bit for bit") {
  for (const int ranks : {1, 2, 4})
    run_threads(ranks, [](const Communicator& world) {
      Generator random(1);
      const Tensor table = randn({19, 5}, random), ids = randint(0, 19, {3, 7}, random),
                   dy = randn({3, 7, 5}, random);
      const VocabParallelEmbedding tokens(world, 19, 5, {.blocks = 4});
      tokens.load(table);
      CHECK(values(tokens.gather()) == values(table));
      const Tensor weight = leaf(table.clone()), y = tokens(ids), expected = embedding(ids, weight);
      CHECK(values(y) == values(expected));
      y.backward(dy);
      expected.backward(dy);
      CHECK(values(whole_grad(world, tokens)) == values(weight.grad()));
      CHECK(tokens(zeros({0, 2}, i64)).shape() == Shape{0, 2, 5});
    });
}

TEST_CASE("vocab parallel: loss and gradients of the head are those of linear_cross_entropy") {
  for (const int ranks : {1, 2, 4})
    for (const DType dtype : {f64, f32})
      for (const auto reduction : {Reduction::mean, Reduction::sum})
        run_threads(ranks, [&](const Communicator& world) {
          const double epsilon = dtype == f64 ? 1e-13 : 2e-6;
          const DefaultDType guard(dtype);
          Generator random(2);
          const Tensor table = randn({21, 6}, random), x = leaf(randn({4, 5, 6}, random)),
                       same = leaf(x.detach().clone());
          const Tensor target = randint(0, 21, {4, 5}, random);
          target.select(0, 1).fill_(-100);
          const VocabParallelHead head(world, 6, 21, {.blocks = 4});
          head.load(table);
          const Tensor weight = leaf(table.clone());
          const CrossEntropyOptions options{.reduction = reduction};
          const Tensor loss = head.loss(x, target, options),
                       expected = linear_cross_entropy(same, weight, target, options);
          check_near(loss, expected, epsilon);
          (loss * 3).backward();
          (expected * 3).backward();
          check_near(x.grad(), same.grad(), epsilon);
          check_near(whole_grad(world, head), weight.grad(), epsilon);
          const NoGrad no_grad;
          CHECK(head.loss(x, target, options).item() == loss.item());
        });
}

TEST_CASE("vocab parallel: gradients against central differences") {
  for (const int ranks : {1, 4})
    run_threads(ranks, [](const Communicator& world) {
      const DefaultDType guard(f64);
      Generator random(3);
      const Tensor table = randn({6, 2}, random), ids = randint(0, 6, {5}, random),
                   target = randint(0, 6, {5}, random);
      const VocabParallelEmbedding tokens(world, 6, 2, {.blocks = 4});
      const VocabParallelHead head(tokens);  // tied: the gradient has both terms
      const auto loss = [&](const Tensor& weight) {
        tokens.load(weight);
        return head.loss(tanh(tokens(ids)), target);
      };
      loss(table).backward();
      const Values gradient = values(whole_grad(world, tokens));
      const double h = 1e-6;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const auto moved = [&](double by) {
          Values all = values(table);
          all[i] += by;
          return loss(from_vector(all, table.shape())).item();
        };
        CHECK(gradient[i] == doctest::Approx((moved(h) - moved(-h)) / (2 * h)).epsilon(1e-7));
      }
    });
}

TEST_CASE("vocab parallel: large and infinite logits, and more rows than a chunk has") {
  run_threads(2, [](const Communicator& world) {
    const VocabParallelHead head(world, 1, 8, {.blocks = 4});
    head.load(tensor({-INFINITY, -INFINITY, 3e4, 0, 1e4, -3e4, 5, 2}).reshape({8, 1}));  // a block of -inf
    const NoGrad no_grad;
    CHECK(head.loss(ones({2, 1}), tensor({2, 4}), {.reduction = Reduction::sum}).item() == 2e4);
    CHECK(head.loss(ones({1, 1}), tensor({0})).item() == kInf);
  });
  run_threads(2, [](const Communicator& world) {
    Generator random(4);
    const std::int64_t vocab = 132'000;  // 64 rows of f32 logits have more than 32 MiB
    const Tensor table = randn({vocab, 2}, random), x = leaf(randn({70, 2}, random)),
                 same = leaf(x.detach().clone());
    const Tensor target = randint(0, vocab, {70}, random), weight = leaf(table.clone());
    const VocabParallelHead head(world, 2, vocab);
    head.load(table);
    const Tensor loss = head.loss(x, target), expected = linear_cross_entropy(same, weight, target);
    check_near(loss, expected, 1e-6);
    loss.backward();
    expected.backward();
    check_near(x.grad(), same.grad(), 1e-5);
    CHECK(allclose(whole_grad(world, head), weight.grad(), 1e-4, 1e-8));
  });
}

TEST_CASE("vocab parallel: initial values do not depend on the ranks, other random numbers neither") {
  const auto drawn = [](int ranks) {
    Values all;
    run_threads(ranks, [&](const Communicator& world) {
      manual_seed(5);
      const VocabParallelEmbedding tokens(world, 50, 4);
      const VocabParallelHead head(world, 4, 50);
      const Tensor both = cat({tokens.gather(), head.gather(), randn({1, 4})}, 0);
      if (world.rank() == 0) all = values(both);
    });
    return all;
  };
  const Values one = drawn(1);
  CHECK(drawn(2) == one);
  CHECK(drawn(8) == one);
}

TEST_CASE("vocab parallel: the norm of all gradients has the bits of one process") {
  for (const int ranks : {1, 2, 4})
    run_threads(ranks, [](const Communicator& world) {
      manual_seed(6);
      const nn::Module model("Model");
      const VocabParallelEmbedding tokens =
          model.add("tokens", VocabParallelEmbedding(world, 40, 300, {.blocks = 4}));
      const nn::Linear body = model.add("body", nn::Linear(300, 300));
      const Tensor ids = arange(40);
      body(tokens(ids)).square().sum().backward();
      static double norm_of_one = 0;
      if (world.size() == 1) norm_of_one = optim::grad_norm(model.parameters());
      CHECK(distributed::clip_grad_norm(world, model.named_parameters(), 1e-3) == norm_of_one);
      const double after = distributed::clip_grad_norm(world, model.named_parameters(), 1e9);
      CHECK(after == doctest::Approx(1e-3).epsilon(1e-5));
    });
  CHECK(failure_of_ranks(2,
                         [](const Communicator& world) {
                           const nn::Linear linear(2, 1, {.bias = false});
                           linear(full({1, 2}, 1.0 + world.rank())).backward();
                           distributed::clip_grad_norm(world, linear.named_parameters(), 1);
                         }) ==
        "clip_grad_norm: the gradient of weight is not the same on rank 0 and rank 1: both compute the same "
        "from the same batch and random numbers");
}

TEST_CASE("vocab parallel: the norm of divided weights one after the other, in f64") {
  for (int seed = 0; seed < 20; ++seed) {
    double norm_of_one = 0;
    Values first;  // of the gathered weights
    for (const int ranks : {1, 2, 4})
      run_threads(ranks, [&](const Communicator& world) {
        const DefaultDType guard(f64);
        manual_seed(static_cast<std::uint64_t>(seed));
        const nn::Module model("Model");
        const VocabParallelEmbedding tokens = model.add("tokens", VocabParallelEmbedding(world, 40, 3));
        const VocabParallelHead head = model.add("head", VocabParallelHead(world, 3, 40));
        const Tensor ids = arange(40);
        head.loss(tokens(ids), ids).backward();
        if (world.size() == 1) norm_of_one = optim::grad_norm(model.parameters());
        CHECK(distributed::clip_grad_norm(world, model.named_parameters(), 1e9) == norm_of_one);
        StateDict own;
        for (const auto& [name, parameter] : model.named_parameters()) own.set(name, parameter);
        std::vector<Tensor> all;
        for (const auto& [name, weight] : distributed::gather(world, own)) all.push_back(weight);
        const Values gathered = values(cat(all, 0));
        if (world.size() == 1) first = gathered;
        CHECK(gathered == first);
      });
  }
}

TEST_CASE("vocab parallel: a norm whose square overflows or underflows") {
  for (const double size : {1e200, 1e-180, 1e308, 5e-324, 0.0, kInf, kNan})
    for (const int ranks : {1, 2, 4})
      run_threads(ranks, [&](const Communicator& world) {
        Generator random(1);
        TensorList whole;                   // two divided weights of four blocks each
        std::vector<StateDict::Entry> own;  // this rank's blocks
        for (const std::string part : {"a.", "b."})
          for (int i = 0; i < 4; ++i) {
            const Tensor gradient = randn({3, 5}, random, f64).clamp(-1, 1) * size;
            const Tensor w = leaf(zeros({3, 5}, f64)), mine = leaf(zeros({3, 5}, f64));
            w.set_grad(gradient);
            mine.set_grad(gradient.clone());
            whole.push_back(w);
            if (i * world.size() / 4 == world.rank()) own.emplace_back(part + std::to_string(i), mine);
          }
        const double norm = optim::clip_grad_norm(whole, 1e-3);
        CHECK(same_bits(distributed::clip_grad_norm(world, own, 1e-3), norm));
        StateDict gradients;
        for (const auto& [name, w] : own) gradients.set(name, w.grad());
        std::size_t i = 0;
        for (const auto& [name, gradient] : distributed::gather(world, gradients)) {
          const Values expected = values(whole[i++].grad()), clipped = values(gradient);
          for (std::size_t j = 0; j < expected.size(); ++j) CHECK(same_bits(clipped[j], expected[j]));
        }
        if (size == 1e200) CHECK(norm > 1e200);
        if (size == 1e-180) CHECK(norm > 1e-180);
      });
}

TEST_CASE("vocab parallel: other ids or targets on a rank are a common error") {
  const auto differs = [](int ranks,
                          const std::function<void(const VocabParallelEmbedding&, int rank)>& call) {
    std::atomic<int> common = 0;
    const std::string message = failure_of_ranks(ranks, [&](const Communicator& world) {
      manual_seed(1);
      const VocabParallelEmbedding tokens(world, 10, 4);
      try {
        call(tokens, world.rank());
      } catch (const distributed::CommonError&) {
        ++common;
        throw;
      }
    });
    CHECK(common > 0);
    return message;
  };
  const Tensor ids = tensor({1, 2, 3}), others = tensor({1, 2, 4});
  for (const int ranks : {2, 4})
    for (int other = 1; other < ranks; ++other) {
      const std::string from =
          " must be the same on all ranks. Different from rank 0: rank " + std::to_string(other) + ". ";
      CHECK(differs(ranks, [&](const VocabParallelEmbedding& tokens, int rank) {
              tokens(rank == other ? others : ids);
            }).starts_with("VocabParallelEmbedding's ids (shape, dtype, checksum)" + from));
      const auto expect_message =
          [&](const std::function<void(const VocabParallelHead&, const Tensor& x, bool)>& loss) {
            const std::string message = differs(ranks, [&](const VocabParallelEmbedding& tokens, int rank) {
              loss(VocabParallelHead(tokens), tokens(ids), rank == other);
            });
            CHECK(message.starts_with(
                "VocabParallelHead::loss's target, x (shape, dtype, checksum) and options" + from));
          };
      expect_message([&](const VocabParallelHead& head, const Tensor& x, bool differ) {
        head.loss(x, differ ? others : ids);
      });
      expect_message([&](const VocabParallelHead& head, const Tensor& x, bool differ) {
        head.loss(differ ? x * 2 : x, ids);
      });
      expect_message([&](const VocabParallelHead& head, const Tensor& x, bool differ) {
        head.loss(x, ids, {.reduction = differ ? Reduction::sum : Reduction::mean});
      });
      expect_message([&](const VocabParallelHead& head, const Tensor& x, bool differ) {
        head.loss(differ ? x.detach() : x, ids, {.ignore_index = differ ? 1 : -100});
      });
    }
}

TEST_CASE("vocab parallel: messages") {
  const Communicator one;
  check_error([&] { VocabParallelEmbedding(one, 10, 4, {.blocks = 3}); },
              "VocabParallelEmbedding: expects blocks of 1, 2, 4, 8, ..., got 3");
  check_error([&] { VocabParallelHead(one, 4, 5); },
              "VocabParallelHead: 8 blocks need a vocabulary of at least 8, got 5: set .blocks to fewer");
  check_error([&] { VocabParallelEmbedding(one, 10, 0); },
              "VocabParallelEmbedding: expects a vocabulary and channels of 1 or more, got [10, 0]");
  CHECK(failure_of_ranks(
            4, [](const Communicator& world) { VocabParallelEmbedding(world, 10, 4, {.blocks = 2}); }) ==
        "VocabParallelEmbedding: 4 ranks need at least 4 blocks, got 2: set .blocks, on which the result "
        "depends");
  CHECK(failure_of_ranks(3, [](const Communicator& world) {
          VocabParallelEmbedding(world, 10, 4);
        }).starts_with("VocabParallelEmbedding: expects 1, 2, 4, 8, ... ranks, got 3"));
  CHECK(failure_of_ranks(2, [](const Communicator& world) {
          VocabParallelEmbedding(world, 10 + world.rank(), 4);
        }).starts_with("VocabParallelEmbedding's sizes and random numbers must be the same on all ranks."));
  const VocabParallelEmbedding tokens(one, 10, 4);
  const VocabParallelHead head(tokens);
  check_error([&] { tokens(zeros({2})); }, "VocabParallelEmbedding: expects ids of i64, got f32 [2]");
  check_error(
      [&] {
        tokens(tensor({3, 10}));
      },
      "VocabParallelEmbedding: id 10 at 1 is out of range for a vocabulary of 10");
  check_error(
      [&] {
        tokens.load(zeros({4, 10}));
      },
      "VocabParallelEmbedding: expects a weight [10, 4], got [4, 10]");
  check_error(
      [&] {
        head.loss(zeros({2, 5}), tensor({1, 2}));
      },
      "VocabParallelHead::loss: expects x [..., 4] of f32, got f32 [2, 5]");
  check_error(
      [&] {
        head.loss(zeros({2, 4}), tensor({1}));
      },
      "VocabParallelHead::loss: expects a target [2] of i64 for x [2, 4], got i64 [1]");
  check_error(
      [&] {
        head.loss(zeros({2, 4}), tensor({1, 10}));
      },
      "VocabParallelHead::loss: target 10 of row 1 is out of range: there are 10 classes");
  check_error(
      [&] {
        head.loss(zeros({2, 4}), tensor({1, 2}), {.label_smoothing = 0.1});
      },
      "VocabParallelHead::loss: takes reduction mean or sum and ignore_index; reduction none, "
      "label_smoothing "
      "and weight need all logits: use linear_cross_entropy with an undivided weight");
}

}  // namespace gradus::test
