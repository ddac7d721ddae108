#include <algorithm>
#include <cmath>
#include <functional>

#include "gradus/gradus.h"
#include "lab/studies/start/start.h"
#include "lab/training/weights.h"

namespace gradus::lab::start {

namespace {

constexpr std::int64_t kSmallWidth = 16, kSmallPositions = 4, kSmallLayers = 6,
                       kNumbers = kSmallWidth * kSmallPositions;

/// A function of a batch of [kSmallPositions, kSmallWidth].
using Function = std::function<Tensor(const Tensor& x)>;

/// dy/dx [kNumbers, kNumbers] at one x: in a batch of equal inputs each gets the gradient of one output.
Tensor by_autograd(const Function& f, const Tensor& x) {
  Tensor inputs = x.expand({kNumbers, kSmallPositions, kSmallWidth}).clone();
  inputs.requires_grad_();
  f(inputs).backward(eye(kNumbers).reshape({kNumbers, kSmallPositions, kSmallWidth}));
  return inputs.grad().reshape({kNumbers, kNumbers});
}

/// The same by central differences, without a tape.
Tensor by_differences(const Function& f, const Tensor& x) {
  const NoGrad guard;
  constexpr double h = 1e-5;
  const Tensor step = h * eye(kNumbers).reshape({kNumbers, kSmallPositions, kSmallWidth});
  const Tensor rows = (f(x + step) - f(x - step)) / (2 * h);  // row i: dy/dx_i
  return rows.reshape({kNumbers, kNumbers}).t();
}

double relative(const Tensor& formula, const Tensor& exact) {
  return (formula - exact).norm().item() / exact.norm().item();
}

double spectral_norm(const Tensor& j) {
  const Tensor square = j.t().matmul(j);
  Tensor v = ones({kNumbers, 1}) + 0.1 * arange(kNumbers, f64).reshape({kNumbers, 1});
  for (int i = 0; i < 200; ++i) {
    v = square.matmul(v);
    v = v / v.norm();
  }
  return std::sqrt(v.t().matmul(square.matmul(v)).item());
}

/// One sublayer: its branch with a norm before it or none, the norm on the shortcut or none, and its input.
struct Sublayer {
  Function f, norm_before, norm_after;
  Tensor x;

  Function branch() const {
    if (!norm_before) return f;
    return [*this](const Tensor& y) { return f(norm_before(y)); };
  }
  Function sum() const {
    return [*this](const Tensor& y) { return y + branch()(y); };
  }
  Function all() const {
    if (!norm_after) return sum();
    return [*this](const Tensor& y) { return norm_after(y + f(y)); };
  }
};

template <class Block>
void add_sublayers(std::vector<Sublayer>& all, const Block& block, bool pre) {
  const Function attn = [&block](const Tensor& x) { return block.self_attn(x); };
  const Function ffn = [&block](const Tensor& x) { return block.ffn(x); };
  const Function norm1 = [&block](const Tensor& x) { return block.norm1(x); };
  const Function norm2 = [&block](const Tensor& x) { return block.norm2(x); };
  all.push_back({attn, pre ? norm1 : Function{}, pre ? Function{} : norm1, {}});
  all.push_back({ffn, pre ? norm2 : Function{}, pre ? Function{} : norm2, {}});
}

std::vector<Sublayer> sublayers(const nn::TransformerEncoder& encoder, const Tensor& x0) {
  std::vector<Sublayer> all;
  for (const nn::AnyBlock& block : encoder.layers) {
    if (const auto* const pre = block.as<nn::PreLNBlock>()) add_sublayers(all, *pre, true);
    if (const auto* const post = block.as<nn::PostLNBlock>()) add_sublayers(all, *post, false);
  }
  const NoGrad guard;
  Tensor x = x0;
  for (Sublayer& one : all) {
    one.x = x;
    x = one.all()(x.unsqueeze(0)).squeeze(0);
  }
  return all;
}

/// Of kFormulaSchemes.
void set_formula_weights(const nn::Module& encoder, const std::string& scheme, Generator& generator) {
  const bool as_at_768 = scheme == "gpt2-768";
  set_weights(encoder, as_at_768 ? "gpt2" : scheme, kSmallLayers, generator);
  if (!as_at_768) return;
  const NoGrad guard;
  for (const auto& [name, w] : encoder.named_parameters())
    if (w.dim() >= 2) w.copy_(w * std::sqrt(768.0 / static_cast<double>(kSmallWidth)));
}

/// The printed formulas of one placement, accumulated sublayer by sublayer.
struct Gathered {
  Tensor exact = eye(kNumbers), sum = eye(kNumbers), product = eye(kNumbers), full = eye(kNumbers);
  double chain = 0;      // largest relative error of a sublayer's chain rule
  double log_ratio = 0;  // of a gradient's growth to the formula's, summed
};

/// A sublayer's Jacobian by the printed chain rule, each factor from central differences.
Tensor chain_rule(const Sublayer& one, const Tensor& identity) {
  const Tensor x = one.x.unsqueeze(0);
  const NoGrad guard;
  if (one.norm_before)  // 1 + df/dLN dLN/dx
    return identity + by_differences(one.f, one.norm_before(x).squeeze(0))
                          .matmul(by_differences(one.norm_before, one.x));
  return by_differences(one.norm_after, one.sum()(x).squeeze(0))  // dLN/dz (1 + df/dx)
      .matmul(identity + by_differences(one.f, one.x));
}

Gathered gather(const std::vector<Sublayer>& all, Generator& generator) {
  const Tensor identity = eye(kNumbers);
  Gathered g;
  std::vector<Tensor> exact;
  std::vector<double> bounds;
  for (const Sublayer& one : all) {
    const Tensor j = by_autograd(one.all(), one.x), df = by_autograd(one.branch(), one.x);
    const Tensor dln = one.norm_after
                           ? by_autograd(one.norm_after, one.sum()(one.x.unsqueeze(0)).squeeze(0).detach())
                           : identity;
    g.sum = g.sum + df;
    g.product = (identity + df).matmul(g.product);
    g.full = dln.matmul(identity + df).matmul(g.full);
    g.chain = std::max(g.chain, relative(chain_rule(one, identity), j));
    exact.push_back(j);
    bounds.push_back((1 + spectral_norm(df)) * (one.norm_after ? spectral_norm(dln) : 1));
  }
  Tensor gradient = randn({1, kNumbers}, generator, f64);
  for (std::size_t k = exact.size(); k-- > 0;) {
    const Tensor below = gradient.matmul(exact[k]);
    g.log_ratio += std::log(below.norm().item() / gradient.norm().item() / bounds[k]);
    gradient = below;
  }
  return g;
}

/// How much a gradient changes on its way down a Pre-LN stack when branches pass none back.
double change_on_shortcut(const std::vector<Sublayer>& all, const Tensor& x0, Generator& generator) {
  Tensor leaf = x0.clone();
  leaf.requires_grad_();
  Tensor x = leaf.unsqueeze(0);
  for (const Sublayer& one : all) x = x + one.branch()(x).detach();
  const Tensor gradient = randn(x.shape(), generator, f64);
  x.backward(gradient);
  return relative(leaf.grad(), gradient.squeeze(0));
}

}  // namespace

std::string formula_title(const std::string& scheme) {
  return scheme == "gpt2-768" ? std::string(weight_scheme("gpt2").title) + ", as at 768"
                              : weight_scheme(scheme).title;
}

Measured measure_formulas(const std::string& scheme, std::uint64_t seed) {
  const DefaultDType dtype(f64);
  Measured measured;
  for (const std::string placement : {"pre", "post"}) {
    const nn::TransformerEncoder encoder(
        {.layers = kSmallLayers,
         .placement = placement_of(placement),
         .block = {.d_model = kSmallWidth, .heads = 2, .activation = nn::Activation::gelu}});  // it is smooth
    Generator generator(seed, 3);
    set_formula_weights(encoder, scheme, generator);
    const Tensor x0 = randn({kSmallPositions, kSmallWidth}, generator, f64);
    const std::vector<Sublayer> all = sublayers(encoder, x0);
    const Gathered g = gather(all, generator);
    const Function stack = [&](const Tensor& x) {
      Tensor y = x;
      for (const Sublayer& one : all) y = one.all()(y);
      return y;
    };
    const Tensor exact = by_autograd(stack, x0);
    if (placement == "pre") measured.numbers["sum.pre"] = relative(g.sum, exact);
    if (placement == "pre") measured.numbers["below"] = change_on_shortcut(all, x0, generator);
    measured.numbers["product." + placement] = relative(g.product, exact);
    if (placement == "post") measured.numbers["full.post"] = relative(g.full, exact);
    measured.numbers["chain." + placement] = g.chain;
    measured.numbers["formula." + placement] = std::exp(g.log_ratio / static_cast<double>(all.size()));
  }
  return measured;
}

}  // namespace gradus::lab::start
