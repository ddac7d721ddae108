// Hessians of two blocks, Pre-LN and Post-LN, and of cross-attention, against
// torch.autograd.functional.hessian (make_hessians.py wrote the file).

#include <doctest/doctest.h>

#include "golden/golden.h"
#include "gradus/gradus.h"

namespace gradus::test {
namespace {

/// hessian() and, for a random v, hvp() of the loss in `moved`.
void check_hessian_of(const StateDict& expected, const std::string& name, const TensorFunction& loss,
                      const std::vector<Tensor>& moved) {
  CAPTURE(name);
  const ListOf<TensorList> blocks = hessian(loss, moved);
  std::vector<Tensor> rows, v;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    std::vector<Tensor> row;
    for (std::size_t j = 0; j < moved.size(); ++j)
      row.push_back(blocks[i][j].reshape({moved[i].numel(), moved[j].numel()}));
    rows.push_back(cat(row, 1));
    v.push_back(randn(moved[i].shape()));
  }
  const Tensor wanted = expected.at("hessian");
  check_close(name + " hessian", cat(rows, 0), wanted, 10);
  std::vector<Tensor> product, direction;
  for (const Tensor& part : hvp(loss, moved, v)) product.push_back(part.reshape({-1}));
  for (const Tensor& part : v) direction.push_back(part.reshape({-1}));
  check_close(name + " hvp", cat(product, 0), matmul(wanted, cat(direction, 0)), 100);
}

}  // namespace

TEST_CASE("PyTorch parity: Hessians of two encoder blocks, Pre-LN and Post-LN") {
  const DefaultDType guard(f64);
  const StateDict file = golden("hessians.safetensors");
  for (const nn::Placement& placement : {nn::pre_ln(), nn::post_ln()}) {
    const bool pre = placement == nn::pre_ln();
    const std::string name = pre ? "pre" : "post";
    const StateDict expected = file.with_prefix_removed(name + "/");
    const nn::TransformerEncoder encoder(
        {.layers = 2,
         .placement = placement,
         .block = {.d_model = 4, .heads = 2, .d_ff = 6, .activation = nn::Activation::gelu, .causal = pre}});
    encoder.load_state_dict(expected.with_prefix_removed("param/"));
    const Tensor x = expected.at("in0"), weights = expected.at("weights");
    const auto loss = [&] { return (encoder(x) * weights).sum(); };
    check_close(name + " loss", loss().detach(), expected.at("loss"));
    check_hessian_of(
        expected, name, loss,
        {encoder.parameter("layers.0.self_attn.in_proj_weight"), encoder.parameter("layers.0.norm1.weight"),
         encoder.parameter("layers.1.linear1.weight"), encoder.parameter("layers.1.norm2.bias")});
  }
}

TEST_CASE("PyTorch parity: the Hessian of cross-attention, inputs included") {
  const DefaultDType guard(f64);
  const StateDict expected = golden("hessians.safetensors").with_prefix_removed("cross/");
  const nn::MultiheadAttention attention({.d_model = 4, .heads = 2});
  attention.load_state_dict(expected.with_prefix_removed("param/"));
  const Tensor q = expected.at("in0").clone().requires_grad_(),
               kv = expected.at("in1").clone().requires_grad_();
  const auto loss = [&] { return (attention(q, kv) * expected.at("weights")).sum(); };
  check_close("cross loss", loss().detach(), expected.at("loss"));
  check_hessian_of(expected, "cross", loss,
                   {q, kv, attention.parameter("in_proj_weight"), attention.parameter("out_proj.weight")});
}

}  // namespace gradus::test
