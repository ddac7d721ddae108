#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"
#include "threads_guard.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::randomize;
using test::Tensors;
using Lines = std::vector<std::string>;

namespace {

const nn::RecurrentOptions kTwo{.input_size = 2, .hidden_size = 3, .layers = 2};

}  // namespace

TEST_CASE("GRU and LSTM: keys, gradients of everything, through all positions and layers") {
  const DefaultDType f64_default(f64);
  const nn::GRU gru(kTwo);
  CHECK(keys_and_shapes(gru) == Lines{"weight_ih_l0 [9, 2]", "weight_hh_l0 [9, 3]", "bias_ih_l0 [9]",
                                      "bias_hh_l0 [9]", "weight_ih_l1 [9, 3]", "weight_hh_l1 [9, 3]",
                                      "bias_ih_l1 [9]", "bias_hh_l1 [9]"});
  randomize(gru);
  check_module(gru, {randn({2, 3, 2}), randn({2, 2, 3})}, [&](const Tensors& x) {
    const auto [y, h] = gru(x[0], x[1]);
    return cat({y.flatten(), h.flatten()});
  });
  const nn::LSTM lstm(kTwo);
  CHECK(keys_and_shapes(lstm)[0] == "weight_ih_l0 [12, 2]");
  randomize(lstm);
  check_module(lstm, {randn({2, 3, 2}), randn({2, 2, 3}), randn({2, 2, 3})}, [&](const Tensors& x) {
    const auto [y, state] = lstm(x[0], {x[1], x[2]});
    return cat({y.flatten(), state.h.flatten(), state.c.flatten()});
  });
}

TEST_CASE("GRU and LSTM: the same in pieces as at once, and the state is the last output") {
  const nn::GRU gru(kTwo);
  const nn::LSTM lstm(kTwo);
  const Tensor x = randn({3, 5, 2}), begin = x.slice(1, 0, 2), end = x.slice(1, 2);
  const auto [y, h] = gru(x);
  CHECK(max_difference(y.select(1, -1), h.select(0, -1)) == 0);
  CHECK(max_difference(gru(end, gru(begin).h).y, y.slice(1, 2)) < 1e-6);
  const auto [z, state] = lstm(x);
  CHECK(max_difference(z.select(1, -1), state.h.select(0, -1)) == 0);
  const auto halfway = lstm(begin).state;
  CHECK(max_difference(lstm(end, halfway).state.c, state.c) < 1e-6);
}

TEST_CASE("GRU: dropout between layers, in training only; starts within 1/sqrt(H)") {
  nn::RecurrentOptions options{.input_size = 8, .hidden_size = 16, .layers = 2, .dropout = 0.5};
  const nn::GRU gru(options);
  const Tensor x = randn({4, 6, 8});
  CHECK(max_difference(gru(x).y, gru(x).y) > 0);
  gru.eval();
  CHECK(max_difference(gru(x).y, gru(x).y) == 0);
  for (const auto& [name, w] : gru.named_parameters()) CHECK(w.detach().abs().max().item() <= 0.25);
}

TEST_CASE("GRU and LSTM: bad calls") {
  check_error([] { nn::GRU({.hidden_size = 3}); }, "GRU: expects input_size of 1 or more, got 0");
  check_error([] { nn::LSTM({.input_size = 3}); }, "LSTM: expects hidden_size of 1 or more, got 0");
  const nn::GRU gru(kTwo);
  check_error(
      [&] {
        gru(zeros({4, 2}));
      },
      "GRU: expects x [B, T, 2], got [4, 2]: add a batch axis with .unsqueeze(0)");
  check_error([&] { gru(zeros({1, 0, 2})); }, "GRU: expects x of one position or more, got [1, 0, 2]");
  check_error(
      [&] {
        gru(zeros({1, 4, 2}), zeros({1, 1, 3}));
      },
      "GRU: expects h [layers, B, H] of f32 [2, 1, 3], got f32 [1, 1, 3]");
  const nn::LSTM lstm(kTwo);
  check_error(
      [&] {
        lstm(zeros({1, 4, 2}), {.c = zeros({2, 2, 3})});
      },
      "LSTM: expects c [layers, B, H] of f32 [2, 1, 3], got f32 [2, 2, 3]");
}
