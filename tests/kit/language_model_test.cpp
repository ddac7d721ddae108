#include "gradus/kit/program/language_model.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/gradus.h"

using namespace gradus;
using test::check_error;

TEST_CASE("decay_matrices: weight decay only for matrices") {
  const nn::GPT model({.vocab = 7, .context = 4, .layers = 1, .block = {.d_model = 8, .heads = 2}});
  const auto groups = kit::decay_matrices(model);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].parameters.size() + groups[1].parameters.size() == model.parameters().size());
  CHECK_FALSE(groups[0].weight_decay);
  CHECK(groups[1].weight_decay == 0.0);
  for (const Tensor& matrix : groups[0].parameters) CHECK(matrix.dim() == 2);
  for (const Tensor& vector : groups[1].parameters) CHECK(vector.dim() == 1);
  CHECK(kit::decay_matrices(nn::Linear(2, 3, {.bias = false})).size() == 1);
}

TEST_CASE("loss_over: the mean over adjacent windows, without dropout") {
  manual_seed(1);
  const nn::GPT model(
      {.vocab = 7, .context = 4, .layers = 1, .block = {.d_model = 8, .heads = 2, .dropout = 0.5}});
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < 10'003; ++i) tokens.push_back(i * i % 7);
  double total = 0;  // 3333 windows of 3, in more than one batch; the last token is a target
  for (int i = 0; i < 3334; ++i) {
    const nn::EvalMode eval(model);
    const auto at = [&](int j) { return static_cast<double>(tokens[static_cast<std::size_t>(3 * i + j)]); };
    total +=
        model.loss(tensor({{at(0), at(1), at(2)}}).to(i64), tensor({{at(1), at(2), at(3)}}).to(i64)).item();
  }
  CHECK(kit::loss_over(model, tokens, 3) == doctest::Approx(total / 3334).epsilon(1e-5));
  CHECK(model.is_training());
  check_error([&] { kit::loss_over(model, std::span(tokens).first(3), 3); },
              "loss_over: expects more tokens than a window has, got 3 for a window of 3");
}

TEST_CASE("wrong_block_names: unknown names") {
  CHECK(kit::is_placement("pre"));
  CHECK_FALSE(kit::is_placement("sideways"));
  CHECK(kit::is_norm("rms"));
  CHECK_FALSE(kit::is_norm("loud"));
  CHECK(kit::wrong_block_names("peri", "batch") == "");
  CHECK(kit::wrong_block_names("sideways", "rms") ==
        "--placement: there is no 'sideways'; `--placement list` lists all");
  CHECK(kit::wrong_block_names("pre", "loud") == "--norm: there is no 'loud'; `--norm list` lists all");
}
