// The places of the FFN's norm that the study `statements` compares.

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/gradus.h"
#include "lab/studies/statements/statements.h"

namespace gradus::lab::statements {

namespace {

/// x + Attn(LN(x)), then h + W2 act(LN(W1 h)): Pre-LN with the FFN's norm where Ioffe and Szegedy 2015 (arXiv
/// 1502.03167, section 3.2) put BatchNorm. Parts, names and order are those of nn::PreLNBlock, so one seed
/// gives both the same matrices; norm2 has as many channels as the hidden layer.
struct HiddenNormBlock : nn::BlockBranches {
  explicit HiddenNormBlock(const nn::BlockOptions& o)
      : BlockBranches("HiddenNormBlock", o),
        norm1(add("norm1", o.new_norm())),
        norm2(add("norm2", o.norm({.d_model = ffn.linear1.weight.size(0), .eps = o.eps, .bias = o.bias}))),
        activation_(o.activation.value_or(Activation::relu)) {}

  Tensor operator()(const Tensor& x, const nn::AttentionMasks& masks = {},
                    nn::KeyValues* cache = nullptr) const {
    const Scope scope(path());
    expect_input(x);
    const Tensor h = x + dropout1(self_attn(norm1(x), masks, cache));
    const Tensor hidden = activate(activation_, norm2(ffn.linear1(h)));
    return report(h + dropout2(ffn.linear2(ffn.dropout(hidden))));
  }

  nn::Norm norm1, norm2;

 private:
  Activation activation_;
};

}  // namespace

nn::Placement placement_of(const std::string& block) {
  if (block == "pre") return nn::pre_ln();
  if (block == "post") return nn::post_ln();
  if (block == "hidden")
    return {.name = "norm before the activation",
            .final_norm = true,
            .equation = "x + W2 act(LN(W1 x))",
            .block = [](const nn::BlockOptions& o) -> nn::AnyBlock { return HiddenNormBlock(o); }};
  if (block == "bare")
    return nn::placement<nn::PreLN, nn::NoNorm>({.name = "no norm at the FFN", .final_norm = true});
  fail_with("statements: there is no block {}", io::quote(block));
}

}  // namespace gradus::lab::statements
