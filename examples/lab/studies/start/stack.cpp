#include <algorithm>
#include <cmath>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/gradus.h"
#include "lab/studies/stack.h"
#include "lab/studies/start/start.h"

namespace gradus::lab::start {

namespace {

/// f(LN(x))
struct CutPreLN : nn::Module {
  explicit CutPreLN(const nn::BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return f(norm(x)); }
  nn::Norm norm;
};

/// LN(f(x))
struct CutPostLN : nn::Module {
  explicit CutPostLN(const nn::BlockOptions& options) : norm(add("", options.new_norm())) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return norm(f(x)); }
  nn::Norm norm;
};

/// f(x)
struct CutNoNorm : nn::Module {
  explicit CutNoNorm(const nn::BlockOptions&) {}
  Tensor operator()(const Tensor& x, const nn::Branch& f) const { return f(x); }
};

double mean_square(const Tensor& x) { return x.square().mean().item(); }

double cosine(const Tensor& a, const Tensor& b) {
  return (a * b).sum().item() / (a.norm().item() * b.norm().item());
}

const char* parameter_of(std::size_t matrix) {
  constexpr const char* kNames[] = {"self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight",
                                    "linear2.weight"};
  return kNames[matrix];
}

/// Norms of the gradients of a kind of matrix, by block.
std::vector<double> gradient_norms(const nn::TransformerEncoder& encoder, std::size_t matrix) {
  std::vector<double> norms;
  for (const nn::AnyBlock& block : encoder.layers)
    norms.push_back(block.parameter(parameter_of(matrix)).grad().norm().item());
  return norms;
}

/// Numbers of the present gradients; names begin with `loss`.
void add_gradients(Measured& measured, const nn::TransformerEncoder& encoder, const std::string& loss,
                   bool curves) {
  for (std::size_t m = 0; m < kMatrices.size(); ++m) {
    const std::vector<double> norms = gradient_norms(encoder, m);
    const auto [low, high] = std::minmax_element(norms.begin(), norms.end());
    measured.numbers[loss + "spread." + kMatrices[m]] = std::log(*high / *low);
    if (m + 1 < kMatrices.size()) continue;  // linear2 is W2
    measured.numbers[loss + "top"] = norms.back();
    measured.numbers[loss + "share"] = norms.front() / norms.back();
    if (!curves) continue;
    for (const double norm : norms) measured.series["gradients"].push_back(norm / norms.back());
  }
}

/// The same of the mean loss over all positions; the first keeps its target.
void add_mean_gradients(Measured& measured, const Stack& stack, Generator& generator) {
  const nn::TransformerEncoder& encoder = stack.encoder;
  encoder.zero_grad();
  const Tensor targets = cat({stack.target, randint(0, kStackClasses, {kStackPositions - 1}, generator)}, 0);
  cross_entropy(linear(encoder(stack.input.detach()).select(0, 0), stack.head), targets).backward();
  add_gradients(measured, encoder, "mean.", false);
}

}  // namespace

nn::Placement placement_of(const std::string& word) {
  if (word == "pre") return nn::pre_ln();
  if (word == "post") return nn::post_ln();
  if (word == "none") return nn::no_norm();
  if (word == "pre-cut")
    return nn::placement<CutPreLN>({.name = title_of(word), .final_norm = true, .equation = "f(LN(x))"});
  if (word == "post-cut") return nn::placement<CutPostLN>({.name = title_of(word), .equation = "LN(f(x))"});
  if (word == "none-cut") return nn::placement<CutNoNorm>({.name = title_of(word), .equation = "f(x)"});
  fail_with("start: no placement is called {}", io::quote(word));
}

std::string title_of(const std::string& word) {
  const std::string title = word.starts_with("pre")    ? "Pre-LN"
                            : word.starts_with("post") ? "Post-LN"
                                                       : "no norms";
  return word.ends_with("-cut") ? title + ", no shortcuts" : title;
}

Measured measure_stack(const std::string& placement, const std::string& scheme, std::int64_t layers,
                       std::uint64_t seed) {
  const bool xiong = scheme == "xiong";
  Generator generator(seed, static_cast<std::uint64_t>(layers));  // the same for all placements
  const Stack stack = make_stack(placement_of(placement), scheme, layers, seed, generator);
  const nn::TransformerEncoder& encoder = stack.encoder;
  Tensor x0 = stack.input;
  x0.requires_grad_();

  std::vector<double> sizes, cosines;
  Tensor x = x0;
  for (const nn::AnyBlock& block : encoder.layers) {
    const Tensor input = x;
    x = block(input);
    sizes.push_back(mean_square(sum_of(block, input, x).detach()));
    cosines.push_back(cosine(x.detach(), x0.detach()));
  }
  x.retain_grad();
  const Tensor y = encoder.norm ? (*encoder.norm)(x) : x;
  y.retain_grad();
  stack.loss(y).backward();

  Measured measured;
  const bool curves = layers == kDepth && (placement == "pre" || placement == "post");
  add_gradients(measured, encoder, "", curves);
  measured.numbers["size.first"] = sizes.front();
  measured.numbers["size.half"] = sizes[(sizes.size() - 1) / 2];
  measured.numbers["size.last"] = sizes.back();
  measured.numbers["cosine"] = cosines.back();
  measured.numbers["direct"] = x.grad().norm().item() / y.grad().norm().item();
  measured.numbers["arrives"] = cosine(x0.grad(), y.grad());
  measured.numbers["activation"] = x0.grad().norm().item() / x.grad().norm().item();
  if (xiong) add_mean_gradients(measured, stack, generator);
  if (curves && xiong) measured.series["sizes"] = sizes;
  if (curves && (scheme == "fan_in" || scheme == "gpt2")) measured.series["cosines"] = cosines;
  return measured;
}

}  // namespace gradus::lab::start
