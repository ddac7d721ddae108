// The dependence of a token's norm on other tokens: layer norm, batch norm, group norm; and one norm or three
// in a block.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gradus/gradus.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/layer_norm/parts.h"

namespace gradus::lab::layer_norm_parts {

namespace {

constexpr std::int64_t kChannels = 16;

double largest_difference_of(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item(); }
double relative_difference(const Tensor& a, const Tensor& b) {
  return std::sqrt(((a - b) * (a - b)).sum().item() / (b * b).sum().item());
}
Tensor tokens(std::int64_t count, Generator& generator) {
  return Tensor(random_normal({count, 1, kChannels}, 0.5, 1.5, f32, generator));
}

/// Gains and biases that differ from 1 and 0, so that errors in them show.
void draw_affine(const nn::Module& norm, Generator& generator) {
  for (const Tensor& w : norm.parameters()) nn::init::normal_(w, 1, 0.3, generator);
}

double generation_difference(std::uint64_t seed) {
  manual_seed(seed);
  const nn::GPT gpt({.vocab = 12, .context = 16, .layers = 2, .block = {.d_model = kChannels, .heads = 2}});
  Generator generator(seed, 1);
  for (const Tensor& w : gpt.parameters())
    if (w.dim() == 2) nn::init::normal_(w, 0, 0.3, generator);
  gpt.eval();
  const Tensor ids = randint(0, 12, {3, 16}, generator);
  const Tensor whole = gpt(ids).detach();
  nn::KeyValueCache cache = gpt.new_cache(3);
  double worst = 0;
  for (std::int64_t t = 0; t < 16; ++t)
    worst = std::max(
        worst, largest_difference_of(gpt.next_logits(ids.slice(1, t, t + 1), cache), whole.select(1, t)));
  return worst / whole.std().item();
}

void measure_layer_norm(Measured& measured, std::uint64_t seed, Generator& generator) {
  const nn::LayerNorm norm(kChannels);
  draw_affine(norm, generator);
  const Tensor x = tokens(32, generator), in_training = norm(x);
  const Tensor alone = norm(x.slice(0, 0, 1));
  norm.eval();
  measured.numbers["ln.mode"] = largest_difference_of(norm(x), in_training);
  measured.numbers["ln.batch"] = largest_difference_of(alone, in_training.slice(0, 0, 1));
  measured.numbers["ln.generation"] = generation_difference(seed);
}

void measure_batch_norm(Measured& measured, Generator& generator) {
  const nn::BatchNorm norm(nn::NormOptions{.d_model = kChannels});
  draw_affine(norm, generator);
  for (int batch = 0; batch < 300; ++batch) norm(tokens(8, generator));
  const Tensor x = tokens(256, generator);
  // Statistics are those of before: a copy, since each training call moves them.
  const nn::BatchNorm inference(nn::NormOptions{.d_model = kChannels});
  inference.copy_parameters_from(norm);
  inference.load_state_dict(norm.state_dict().clone());
  inference.eval();
  const Tensor expected = inference(x);
  const auto in_batch = [&](std::int64_t count) { return norm(x.slice(0, 0, count)); };
  for (const std::int64_t count : {2, 4, 8, 16, 32, 64, 128, 256})
    measured.series["bn.by-batch"].push_back(
        relative_difference(in_batch(count), expected.slice(0, 0, count)));
  measured.numbers["bn.mode"] = relative_difference(in_batch(8), expected.slice(0, 0, 8));
  measured.numbers["bn.batch"] = relative_difference(in_batch(4), in_batch(32).slice(0, 0, 4));
  try {
    in_batch(1);
    measured.numbers["bn.one"] = 0;
  } catch (const Error&) {
    measured.numbers["bn.one"] = 1;
  }
}

void measure_groups(Measured& measured, Generator& generator) {
  const nn::GroupNorm group(2, 8);
  const nn::BatchNorm batch(8);
  const Tensor x = Tensor(random_normal({8, 8, 4, 4}, 0.5, 1.5, f32, generator));
  Tensor others = Tensor(random_normal({8, 8, 4, 4}, 0.5, 1.5, f32, generator));
  others.slice(0, 0, 1).copy_(x.slice(0, 0, 1));  // the first image stays
  const auto first = [](const Tensor& y) { return y.slice(0, 0, 1); };
  measured.numbers["group-batch"] = relative_difference(group(x), batch(x));
  measured.numbers["group-batch-others"] = relative_difference(first(batch(others)), first(batch(x))) -
                                           relative_difference(first(group(others)), first(group(x)));
}

}  // namespace

void measure_batches(Measured& measured, std::uint64_t seed) {
  const NoGrad guard;
  Generator generator(seed, 2);
  measure_layer_norm(measured, seed, generator);
  measure_batch_norm(measured, generator);
  measure_groups(measured, generator);
}

namespace {

/// Attention whose queries, keys and values come from one norm of x, or from three.
struct NormedAttention {
  Tensor gain, bias, q, k, v;

  Tensor norm(const Tensor& x) const { return layer_norm(x, gain, bias); }
  Tensor attend(const Tensor& a, const Tensor& b, const Tensor& c) const {
    const auto heads = [](const Tensor& y) {
      return y.reshape({y.size(0), y.size(1), 4, y.size(2) / 4}).transpose(1, 2);
    };
    return scaled_dot_product_attention(heads(linear(a, q)), heads(linear(b, k)), heads(linear(c, v)));
  }
  Tensor once(const Tensor& x) const {
    const Tensor normed = norm(x);
    return attend(normed, normed, normed);
  }
  Tensor thrice(const Tensor& x) const { return attend(norm(x), norm(x), norm(x)); }
};

Tensor gradient_of(const Tensor& x, const Tensor& dy, const std::function<Tensor(const Tensor&)>& f) {
  Tensor leaf = x.clone();
  leaf.requires_grad_();
  f(leaf).backward(dy);
  return leaf.grad();
}

/// Median times of two alternating calls, so that other load on the machine affects both equally.
double time_ratio(const std::function<void()>& longer, const std::function<void()>& shorter) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](const std::function<void()>& f) {
    const Clock::time_point start = Clock::now();
    f();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::vector<double> a, b;
  for (int i = 0; i < 25; ++i) {
    a.push_back(seconds(longer));
    b.push_back(seconds(shorter));
  }
  return median(a) / median(b);
}

}  // namespace

void measure_thrice(Measured& measured, std::uint64_t seed) {
  const std::int64_t c = 64;
  Generator generator(seed, 3);
  const auto matrix = [&] { return Tensor(random_normal({c, c}, 0, 0.125, f32, generator)); };
  const NormedAttention attention{.gain = Tensor(random_normal({c}, 1, 0.2, f32, generator)),
                                  .bias = Tensor(random_normal({c}, 0, 0.2, f32, generator)),
                                  .q = matrix(),
                                  .k = matrix(),
                                  .v = matrix()};
  const Tensor x = Tensor(random_normal({8, 32, c}, 0.5, 1.5, f32, generator));
  const Tensor dy = Tensor(random_normal({8, 4, 32, c / 4}, 0, 1, f32, generator));
  const auto once = [&](const Tensor& y) { return attention.once(y); };
  const auto thrice = [&](const Tensor& y) { return attention.thrice(y); };
  measured.numbers["thrice.output"] = largest_difference_of(thrice(x), once(x));
  const Tensor dx = gradient_of(x, dy, once);
  measured.numbers["thrice.gradient"] =
      largest_difference_of(gradient_of(x, dy, thrice), dx) / dx.abs().max().item();
  const NoGrad guard;
  const auto norms = [&](int count) {
    return [&attention, &x, count] {
      for (int i = 0; i < count; ++i) attention.norm(x);
    };
  };
  measured.numbers["thrice.time"] = time_ratio(norms(3), norms(1));
  measured.numbers["thrice.time-attention"] = time_ratio([&] { thrice(x); }, [&] { once(x); });
}

}  // namespace gradus::lab::layer_norm_parts
