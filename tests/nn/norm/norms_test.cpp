#include "gradus/nn/norm/norms.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"

namespace gradus::test {

TEST_CASE("norms by name") {
  const std::string list = nn::list_norms();
  for (const nn::NamedNorm& norm : nn::norms()) {
    INFO(norm.name);
    CHECK(nn::norm_named(norm.name).kind == norm.kind);
    CHECK(norm.make({.d_model = 8}).kind() == norm.kind);
    CHECK(list.find(norm.name + " ") != std::string::npos);
    CHECK(list.find(norm.equation) != std::string::npos);
    CHECK((norm.name == "none" || norm.paper.find("arXiv") != std::string::npos));
  }
  CHECK(nn::norms().size() == 6);
  CHECK(nn::norm_named("RMSNorm").kind == "RMSNorm");
  CHECK(nn::norm_named("LAYER").kind == "LayerNorm");
  for (const char* const bad : {"", "norm", "lay", "layers"})
    CHECK_THROWS_WITH_AS(nn::norm_named(bad),
                         doctest::Contains("there are layer, batch, group, rms, dyt, none"), Error);
}

TEST_CASE("norms by name: GroupNorm's groups, and any of them in a block") {
  const Tensor x = randn({2, 3, 8});
  const auto of = [&](std::int64_t groups) {
    return nn::norm_named("group", groups).make({.d_model = 8})(x);
  };
  CHECK(max_difference(of(1), layer_norm(x)) < 1e-6);
  CHECK(max_difference(of(2), layer_norm(x.reshape({2, 3, 2, 4})).reshape({2, 3, 8})) < 1e-6);
  CHECK_THROWS_WITH_AS(of(3), "GroupNorm: channels 8 are not divisible by groups 3", Error);
  for (const nn::NamedNorm& norm : nn::norms()) {
    INFO(norm.name);
    const nn::PreLNBlock block({.d_model = 8, .heads = 2, .norm = norm.make});
    CHECK(block.norm1.kind() == norm.kind);
    CHECK(block(x).shape() == x.shape());
  }
}

}  // namespace gradus::test
