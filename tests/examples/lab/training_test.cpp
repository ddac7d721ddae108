#include "lab/studies/compare/training.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lab/training/trial.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;

TEST_CASE("a training has a loss and a gradient of each step, and a fingerprint of its parameters") {
  const Measured one = measure_training(recall_task(), {.layers = 1, .lr = 0.01}, 6);
  CHECK(one.series.at("losses").size() == 6);
  for (const double norm : one.series.at("gradient-norms")) CHECK(norm > 0);
  CHECK(one.texts.at("parameters-sha256").size() == 64);
  CHECK(one.numbers.at("final-loss") < one.numbers.at("start-loss"));
  CHECK(std::isnan(one.numbers.at("diverged-at")));
  const Measured again = measure_training(recall_task(), {.layers = 1, .lr = 0.01}, 6);
  CHECK(again.texts == one.texts);
  CHECK(again.series == one.series);
  CHECK(measure_training(recall_task(), {.layers = 1, .lr = 0.01, .seed = 1}, 6).texts != one.texts);
}

TEST_CASE("a run that diverges has no final loss, but the step at which it diverged") {
  const Measured wild = measure_training(recall_task(), {.layers = 1, .lr = 1e30}, 6);
  CHECK(std::isnan(wild.numbers.at("final-loss")));
  CHECK(wild.numbers.at("diverged-at") <= 6);
  CHECK(wild.numbers.at("diverged-at") == static_cast<double>(wild.series.at("losses").size()));
}

TEST_CASE("both placements start from the same weights") {
  RunOptions run{.layers = 2, .seed = 3};
  const StateDict pre = make_model(recall_task(), run).state_dict();
  run.placement = nn::post_ln();
  const StateDict post = make_model(recall_task(), run).state_dict();
  std::size_t shared = 0;
  for (const auto& [key, value] : post) {
    const std::string& name = key;  // clang 14 captures no structured binding
    CAPTURE(name);
    CHECK((pre.at(name) - value).abs().sum().item() == 0);
    ++shared;
  }
  CHECK(shared == post.size());
  CHECK(pre.size() == post.size() + 2);  // the final norm
}

TEST_CASE("residual scaling makes the matrices that write to the shortcut 1 / sqrt(2L) as large") {
  RunOptions run{.layers = 2, .seed = 3};
  const StateDict plain = make_model(recall_task(), run).state_dict();
  run.residual_scaling = true;
  const StateDict scaled = make_model(recall_task(), run).state_dict();
  for (const auto& [key, value] : plain) {
    const std::string& name = key;
    CAPTURE(name);
    const bool writes = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight");
    const Tensor expected = writes ? value / 2.0 : value;
    CHECK((scaled.at(name) - expected).abs().max().item() < 1e-7);
  }
}
