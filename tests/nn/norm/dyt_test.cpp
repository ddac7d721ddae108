#include "gradus/nn/norm/dyt.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

namespace gradus::test {

TEST_CASE("DyT: weight tanh(alpha x) + bias, starting at alpha 0.5") {
  const nn::DyT norm(3);
  CHECK(keys_and_shapes(norm) == std::vector<std::string>{"alpha [1]", "weight [3]", "bias [3]"});
  const Tensor y = norm(tensor({{1.0, -2.0, 0.0}}));
  CHECK(y[0][0].item() == doctest::Approx(std::tanh(0.5)));
  CHECK(y[0][1].item() == doctest::Approx(std::tanh(-1.0)));
  randomize(norm);
  const double a = norm.alpha[0].item(), w = norm.weight[2].item(), b = norm.bias[2].item();
  CHECK(norm(full({4, 3}, 2.0))[3][2].item() == doctest::Approx(w * std::tanh(2 * a) + b).epsilon(1e-5));
  CHECK_FALSE(nn::DyT(3, {.bias = false}).bias.defined());
}

TEST_CASE("DyT: gradients") {
  const DefaultDType f64_default(f64);
  const nn::DyT norm(4, {.alpha = 0.8});
  randomize(norm);
  check_module(norm, {randn({2, 3, 4})}, [&](const Tensors& in) { return norm(in[0]); });
}

TEST_CASE("DyT: bad calls") {
  CHECK_THROWS_WITH_AS(nn::DyT(0), "DyT: expects dim of 1 or more, got 0", Error);
  CHECK_THROWS_WITH_AS(nn::DyT(3, {.alpha = NAN}), "DyT: expects a finite alpha, got nan", Error);
  CHECK_THROWS_WITH_AS(nn::DyT(3)(ones({2, 4})), doctest::Contains("DyT: expects x [..., 3], got [2, 4]"),
                       Error);
  CHECK_THROWS_WITH_AS(nn::DyT(3)(ones({2, 3}, f64)), doctest::Contains("f64"), Error);
}

TEST_CASE("norms as an option of blocks: each in a stack, with its gradients") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 3, 4});
  const std::pair<const char*, nn::MakeNorm> norms[] = {{"LayerNorm", nn::make_norm<nn::LayerNorm>},
                                                        {"RMSNorm", nn::make_norm<nn::RMSNorm>},
                                                        {"DyT", nn::make_norm<nn::DyT>},
                                                        {"BatchNorm", nn::make_norm<nn::BatchNorm>},
                                                        {"GroupNorm", nn::make_group_norm(2)},
                                                        {"none", nn::make_norm<nn::Identity>}};
  for (const auto& norm : norms) {
    INFO(norm.first);
    for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln(), nn::peri_ln()}) {
      const nn::TransformerEncoder encoder({.layers = 2,
                                            .placement = placement,
                                            .block = {.d_model = 4,
                                                      .heads = 2,
                                                      .d_ff = 5,
                                                      .norm = norm.second,
                                                      .qk_norm = norm.first != std::string("BatchNorm")}});
      randomize(encoder);
      check_module(encoder, {x}, [&](const Tensors& in) { return encoder(in[0]); });
    }
  }
}

TEST_CASE("GroupNorm in blocks: every token separately") {
  const nn::Norm norm = nn::make_group_norm(2)({.d_model = 4});
  const Tensor x = randn({2, 3, 4});
  const Tensor by_hand = layer_norm(x.reshape({2, 3, 2, 2})).reshape({2, 3, 4});
  CHECK(max_difference(norm(x), by_hand) < 1e-6);
  const nn::Norm whole = nn::make_group_norm(1)({.d_model = 4});
  CHECK(max_difference(whole(x), layer_norm(x)) < 1e-6);
  CHECK_THROWS_WITH_AS(nn::make_group_norm(3)({.d_model = 4}),
                       "GroupNorm: channels 4 are not divisible by groups 3", Error);
  CHECK_THROWS_WITH_AS(nn::make_group_norm(0), "GroupNorm: expects groups of 1 or more, got 0", Error);
  CHECK_THROWS_WITH_AS(norm(ones({2, 3, 5})), doctest::Contains("[..., 4], got [2, 3, 5]"), Error);
}

}  // namespace gradus::test
