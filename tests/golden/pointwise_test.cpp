// Values and gradients of elementwise ops, reductions and losses against PyTorch's: pointwise_cases() of
// op_cases.py has the same names.

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "golden/golden.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

using Inputs = std::vector<Tensor>;
using Cases = std::vector<std::pair<std::string, std::function<Tensor(const Inputs&)>>>;

Cases pointwise_cases() {
  using In = const Inputs&;
  return {
      {"log2", [](In x) { return log2(x[0]); }},
      {"expm1", [](In x) { return expm1(x[0]); }},
      {"reciprocal", [](In x) { return reciprocal(x[0]); }},
      {"sign", [](In x) { return sign(x[0]); }},
      {"floor", [](In x) { return floor(x[0]); }},
      {"ceil", [](In x) { return ceil(x[0]); }},
      {"round", [](In x) { return round(x[0]); }},
      {"isnan", [](In x) { return isnan(x[0]); }},
      {"isinf", [](In x) { return isinf(x[0]); }},
      {"isfinite", [](In x) { return isfinite(x[0]); }},
      {"leaky_relu", [](In x) { return leaky_relu(x[0], 0.2); }},
      {"softplus", [](In x) { return softplus(x[0], 2); }},
      {"clamp_low", [](In x) { return clamp(x[0], -0.3); }},
      {"clamp_high", [](In x) { return clamp(x[0], {}, 0.3); }},
      {"floor_divide_integers", [](In x) { return floor_divide(x[0], x[1]); }},
      {"remainder_integers", [](In x) { return x[0] % x[1]; }},
      {"floor_divide", [](In x) { return floor_divide(x[0].detach(), x[1].detach()); }},
      {"remainder", [](In x) { return remainder(x[0], x[1]); }},
      {"remainder_number", [](In x) { return x[0] % -1.5; }},
      {"std", [](In x) { return std(x[0], -1); }},
      {"std_biased",
       [](In x) {
         return std(x[0], {0, 2}, {.keepdim = true, .unbiased = false});
       }},
      {"prod", [](In x) { return prod(x[0]); }},
      {"prod_axis", [](In x) { return prod(x[0], 1, true); }},
      {"all", [](In x) { return all(x[0], 1); }},
      {"any", [](In x) { return any(x[0], 0, true); }},
      {"max_with_indices", [](In x) { return max_with_indices(x[0], 1).first; }},
      {"max_indices", [](In x) { return max_with_indices(x[0], 1, true).second; }},
      {"min_with_indices", [](In x) { return min_with_indices(x[0], 0).first; }},
      {"min_indices", [](In x) { return min_with_indices(x[0], 0).second; }},
  };
}

Cases loss_cases() {
  using In = const Inputs&;
  Cases cases = {
      {"kl_div_batchmean", [](In x) { return kl_div(x[0], x[1], Reduction::sum) / x[0].size(0); }}};
  const std::pair<const char*, Reduction> reductions[] = {
      {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};
  for (const auto& [end, r] : reductions) {
    const Reduction reduction = r;
    const auto add = [&, end = std::string("_") + end](const char* name, auto f) {
      cases.emplace_back(name + end, f);
    };
    add("l1_loss", [=](In x) { return l1_loss(x[0], x[1], reduction); });
    add("huber_loss", [=](In x) { return huber_loss(x[0], x[1], reduction, 0.8); });
    add("kl_div", [=](In x) { return kl_div(x[0], x[1], reduction); });
    add("kl_div_log", [=](In x) { return kl_div(x[0], x[1], reduction, true); });
    add("nll_weighted", [=](In x) {
      return nll_loss(x[0], x[1], {.weight = x[2].detach(), .ignore_index = 4, .reduction = reduction});
    });
    for (const double smoothing : {0.0, 0.2}) {
      const std::string name = smoothing > 0 ? "_smooth" : "_plain";
      const auto with = [=](In x, std::optional<std::int64_t> ignored) -> CrossEntropyOptions {
        return {.weight = x.size() > 2 ? x[2].detach() : Tensor(),
                .ignore_index = ignored,
                .label_smoothing = smoothing,
                .reduction = reduction};
      };
      const auto classes = [=](In x) { return cross_entropy(x[0], x[1], with(x, 4)); };
      const auto soft = [=](In x) { return cross_entropy(x[0], x[1], with(x, {})); };
      add(("ce_weighted" + name).c_str(), classes);
      add(("ce_soft" + name).c_str(), soft);
      add(("ce_soft_weighted" + name).c_str(), soft);
    }
  }
  return cases;
}

void check_pointwise(const Cases& cases) {
  const StateDict file = golden("pointwise.safetensors");
  for (const auto& c : cases) {
    CAPTURE(c.first);
    const Inputs inputs = golden_inputs(file, c.first);
    check_outputs(file, c.first, c.second(inputs), inputs);
  }
}

}  // namespace

TEST_CASE("PyTorch parity: rounding, division, products, extremes") { check_pointwise(pointwise_cases()); }
TEST_CASE("PyTorch parity: losses with weights, soft targets, distances") { check_pointwise(loss_cases()); }

TEST_CASE("PyTorch parity: no case of pointwise.safetensors is left out") {
  std::set<std::string> tested, written;
  for (const Cases& cases : {pointwise_cases(), loss_cases()})
    for (const auto& [name, f] : cases) tested.insert(name);
  for (const auto& [key, tensor] : golden("pointwise.safetensors"))
    written.insert(key.substr(0, key.find('/')));
  CHECK(tested == written);
}

}  // namespace gradus::test
