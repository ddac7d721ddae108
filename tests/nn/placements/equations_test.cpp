// Each placement against its equation, written out branch by branch as its paper prints it.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

namespace {

constexpr std::int64_t kLayers = 4;
const nn::BlockOptions kBlock{.d_model = 4, .heads = 2, .d_ff = 6};

/// An encoder with random weights, and its parts by name.
struct Stack {
  explicit Stack(const nn::Placement& placement, nn::BlockOptions block = kBlock)
      : encoder({.layers = kLayers, .placement = placement, .block = block}) {
    randomize(encoder);
  }

  /// Norm "layers.0.norm1" of x; "" for one without parameters.
  Tensor norm(const std::string& name, const Tensor& x) const {
    return layer_norm(x, encoder.parameter(name + ".weight"), encoder.parameter(name + ".bias"));
  }
  Tensor weight(const std::string& name) const { return encoder.parameter(name); }
  /// The attention of a block, written out.
  Tensor attention(int i, const Tensor& x) const {
    const std::string at = "layers." + std::to_string(i) + ".self_attn.";
    const Tensor qkv = linear(x, weight(at + "in_proj_weight"), weight(at + "in_proj_bias"));
    std::vector<Tensor> heads;
    for (int h = 0; h < 2; ++h) {
      const auto head = [&](int part, const std::string& normed) {
        const Tensor y = qkv.slice(-1, 4 * part + 2 * h, 4 * part + 2 * h + 2);
        const std::string key = at + normed + "_norm";
        return encoder.state_dict().contains(key + ".weight") ? norm(key, y) : y;
      };
      const Tensor q = head(0, "q"), k = head(1, "k"), v = head(2, "v");
      heads.push_back(matmul(softmax(matmul(q, k.transpose(1, 2)) / std::sqrt(2.0), -1), v));
    }
    return linear(cat(heads, -1), weight(at + "out_proj.weight"), weight(at + "out_proj.bias"));
  }
  Tensor ffn(int i, const Tensor& x) const {
    const std::string at = "layers." + std::to_string(i) + ".linear";
    const Tensor hidden = relu(linear(x, weight(at + "1.weight"), weight(at + "1.bias")));
    return linear(hidden, weight(at + "2.weight"), weight(at + "2.bias"));
  }
  /// f: attention of block i for j = 0, its FFN for j = 1.
  Tensor f(int i, int j, const Tensor& x) const { return j == 0 ? attention(i, x) : ffn(i, x); }

  nn::TransformerEncoder encoder;
};

std::string norm_of(int i, int j) { return "layers." + std::to_string(i) + ".norm" + std::to_string(j + 1); }

/// A stack's output, written out.
using Equation = std::function<Tensor(const Stack&, const Tensor& x)>;

/// Gradients of all parameters, in f64.
Tensors gradients(const Stack& stack, const Tensor& y, const Tensor& dy) {
  for (const Tensor& w : stack.encoder.parameters()) w.zero_grad();
  y.backward(dy.to(y.dtype()));
  Tensors grads;
  for (const Tensor& w : stack.encoder.parameters()) grads.push_back(w.grad().to(f64).clone());
  return grads;
}

double distance(const Tensors& a, const Tensors& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).square().sum().item();
  return std::sqrt(sum);
}

/// The error of the whole gradient in f32, over that of the equation's, whose softmax keeps its weights.
double error_ratio(const nn::Placement& placement, const Equation& equation, double scale,
                   const nn::BlockOptions& block) {
  const Stack in_f32(placement, block);
  const Tensor x = randn({2, 24, 4}), dy = randn({2, 24, 4});
  const DefaultDType f64_default(f64);
  const Stack in_f64(placement, block);
  const std::vector<Tensor> from = in_f32.encoder.parameters(), to = in_f64.encoder.parameters();
  {
    const NoGrad guard;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i].dim() > 1) from[i].copy_(from[i] * scale);
      to[i].copy_(from[i].to(f64));
    }
  }
  const Tensors exact = gradients(in_f64, equation(in_f64, x.to(f64)), dy);
  return distance(gradients(in_f32, in_f32.encoder(x), dy), exact) /
         distance(gradients(in_f32, equation(in_f32, x), dy), exact);
}

/// From 0.1 to 30 times GPT's N(0, 0.02^2), which is N(0, 0.08^2) where there are 4 channels for its 64. The
/// median: where large scores are nearly equal, either may be off by chance.
void expect_exact_gradients(const nn::Placement& placement, const Equation& equation,
                            const nn::BlockOptions& block) {
  for (const double scale : {0.1, 1.0, 5.0, 10.0, 20.0, 30.0}) {
    std::vector<double> ratios;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      manual_seed(seed);
      ratios.push_back(error_ratio(placement, equation, 0.16 * scale, block));
    }
    CAPTURE(scale);
    CHECK(std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio <= 5; }) >= 3);
  }
}

struct Case {
  nn::Placement placement;
  Equation equation;
  nn::BlockOptions block = kBlock;
};

/// A placement whose branches are all joined by step(stack, i, j, x).
using Step = std::function<Tensor(const Stack&, int i, int j, const Tensor& x)>;
Case steps(const nn::Placement& placement, bool final_norm, const Step& step,
           const nn::BlockOptions& block = kBlock) {
  return {placement,
          [=](const Stack& stack, const Tensor& x) {
            CHECK(stack.encoder.norm.has_value() == final_norm);
            Tensor h = x;
            for (int i = 0; i < kLayers; ++i)
              for (int j = 0; j < 2; ++j) h = step(stack, i, j, h);
            return final_norm ? stack.norm("norm", h) : h;
          },
          block};
}

/// Every placement of the library, and some of them with other numbers or options.
std::vector<Case> cases() {
  nn::BlockOptions qk = kBlock;
  qk.qk_norm = true;
  return {
      steps(nn::pre_ln(), true,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return x + s.f(i, j, s.norm(norm_of(i, j), x));
            }),
      steps(nn::post_ln(), false,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return s.norm(norm_of(i, j), x + s.f(i, j, x));
            }),
      steps(nn::no_norm(), false,
            [](const Stack& s, int i, int j, const Tensor& x) { return x + s.f(i, j, x); }),
      steps(nn::peri_ln(), true,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return x + s.norm(norm_of(i, j) + ".after", s.f(i, j, s.norm(norm_of(i, j) + ".before", x)));
            }),
      steps(nn::olmo2(), true,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return x + s.norm(norm_of(i, j), s.f(i, j, x));
            }),
      steps(nn::deep_norm(), false,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return s.norm(norm_of(i, j), std::pow(2.0 * kLayers, 0.25) * x + s.f(i, j, x));
            }),
      steps(nn::deep_norm({.encoder_layers = kLayers, .decoder_layers = 3}), false,
            [](const Stack& s, int i, int j, const Tensor& x) {
              const double alpha = 0.81 * std::pow(std::pow(1.0 * kLayers, 4) * 3, 1.0 / 16);
              return s.norm(norm_of(i, j), alpha * x + s.f(i, j, x));
            }),
      steps(nn::mix_ln(), true,
            [](const Stack& s, int i, int j, const Tensor& x) {
              if (i < 1) return s.norm(norm_of(i, j), x + s.f(i, j, x));
              return x + s.f(i, j, s.norm(norm_of(i, j), x));
            }),
      steps(nn::mix_ln(0.6), true,
            [](const Stack& s, int i, int j, const Tensor& x) {
              if (i < 2) return s.norm(norm_of(i, j), x + s.f(i, j, x));  // floor(0.6 * 4)
              return x + s.f(i, j, s.norm(norm_of(i, j), x));
            }),
      steps(nn::ln_scaling(), true,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return x + s.f(i, j, s.norm(norm_of(i, j), x) / std::sqrt(i + 1.0));
            }),
      steps(nn::keel(), false,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return s.norm(norm_of(i, j) + ".out", 8.0 * x + s.f(i, j, s.norm(norm_of(i, j) + ".in", x)));
            }),
      steps(nn::rezero(), false,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return x + s.weight(norm_of(i, j) + ".alpha") * s.f(i, j, x);
            }),
      steps(nn::admin(), false,
            [](const Stack& s, int i, int j, const Tensor& x) {
              return s.norm(norm_of(i, j), x * s.weight(norm_of(i, j) + ".shortcut") + s.f(i, j, x));
            }),
      steps(nn::hybrid_norm(), true,
            [](const Stack& s, int i, int j, const Tensor& x) {
              if (j == 0) return x + s.attention(i, x);  // with norms of q, k and v
              const Tensor y = s.norm(norm_of(i, 1), x);
              return y + s.ffn(i, y);
            }),
      steps(
          nn::olmo2(), true,
          [](const Stack& s, int i, int j, const Tensor& x) {
            return x + s.norm(norm_of(i, j), s.f(i, j, x));
          },
          qk),
      {nn::b2t(),
       [](const Stack& s, const Tensor& x) {
         Tensor h = x;
         for (int i = 0; i < kLayers; ++i) {
           const Tensor y = s.norm(norm_of(i, 0), h + s.attention(i, h));
           h = s.norm(norm_of(i, 1), h + y + s.ffn(i, y));
         }
         return h;
       }},
      {nn::resi_dual(),
       [](const Stack& s, const Tensor& e) {
         Tensor x = e, r = e;
         for (int i = 0; i < kLayers; ++i)
           for (int j = 0; j < 2; ++j) {
             const Tensor y = s.f(i, j, x);
             x = s.norm(norm_of(i, j), x + y), r = r + y;
           }
         return x + s.norm("norm", r);
       }},
      {nn::siamese_norm(), [](const Stack& s, const Tensor& e) {
         Tensor x = e, y = e;
         for (int i = 0; i < kLayers; ++i)
           for (int j = 0; j < 2; ++j) {
             x = s.norm(norm_of(i, j) + ".post", x);
             const Tensor z = s.f(i, j, s.norm(norm_of(i, j) + ".in", x + s.norm(norm_of(i, j) + ".pre", y)));
             x = x + z / std::sqrt(2.0 * (i + 1)), y = y + z;
           }
         return s.norm("norm", s.norm("norm.post", x) + s.norm("norm.pre", y));
       }}};
}

}  // namespace

TEST_CASE("placements: each is its equation") {
  const std::vector<Case> all = cases();
  for (const nn::Placement& placement : nn::placements()) {
    INFO("without an equation here: ", placement.name);
    CHECK(std::any_of(all.begin(), all.end(), [&](const Case& one) { return one.placement == placement; }));
  }
  for (const Case& one : all) {
    INFO(one.placement.name);
    const auto& [placement, equation, block] = one;
    {
      const DefaultDType f64_default(f64);
      const Stack stack(placement, block);
      const Tensor x = randn({2, 3, 4});
      CHECK(max_difference(stack.encoder(x), equation(stack, x)) < 1e-12);
    }
    expect_exact_gradients(placement, equation, block);
  }
}

TEST_CASE("placements: decoders with memory") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 3, 4}), memory = randn({2, 5, 4});
  const auto decoder_of = [](const nn::Placement& placement) {
    const nn::TransformerDecoder decoder({.layers = 2, .placement = placement, .block = kBlock});
    randomize(decoder);
    return decoder;
  };
  const auto norm = [](const nn::Module& m, const std::string& name, const Tensor& h) {
    return layer_norm(h, m.parameter(name + ".weight"), m.parameter(name + ".bias"));
  };
  {
    const nn::TransformerDecoder decoder = decoder_of(nn::b2t());
    Tensor h = x;
    for (const std::size_t i : {0U, 1U}) {
      const auto& block = *decoder.layers[i].as<nn::B2TDecoderBlock>();
      const Tensor y = norm(block, "norm1", h + block.self_attn(h));
      const Tensor z = norm(block, "norm2", y + block.multihead_attn(y, memory));
      h = norm(block, "norm3", h + z + block.ffn(z));
    }
    CHECK(max_difference(decoder(x, memory), h) == 0);
  }
  const nn::TransformerDecoder decoder =
      decoder_of(nn::deep_norm({.encoder_layers = 6, .decoder_layers = 2}));
  const double alpha = std::pow(3.0 * 2, 0.25);
  Tensor h = x;
  for (const std::size_t i : {0U, 1U}) {
    const auto& block = *decoder.layers[i].as<nn::DecoderBlock<nn::DeepNorm>>();
    h = norm(block, "norm1", alpha * h + block.self_attn(h));
    h = norm(block, "norm2", alpha * h + block.multihead_attn(h, memory));
    h = norm(block, "norm3", alpha * h + block.ffn(h));
  }
  CHECK(max_difference(decoder(x, memory), h) < 1e-14);
}

}  // namespace gradus::test
