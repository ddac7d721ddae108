// Batch, group, RMS and layer norm: one formula, and which values share a mean and a variance.
// Its chapter: docs/course/12_norms/README.md

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

// [standardize]
/// (x - mean) / sqrt(var + eps), both over the given axes: the whole difference between three of the norms.
Tensor standardize(const Tensor& x, const Axes& axes) {
  const Tensor mean = x.mean(axes, true), var = (x - mean).square().mean(axes, true);
  return (x - mean) / (var + 1e-5).sqrt();
}
Tensor batch_norm(const Tensor& x) { return standardize(x, {0, 2, 3}); }  // x [B, C, H, W]
Tensor whole_image_norm(const Tensor& x) { return standardize(x, {1, 2, 3}); }
Tensor group_norm(const Tensor& x, std::int64_t groups) {
  return standardize(x.reshape({x.size(0), groups, -1, x.size(2), x.size(3)}), {2, 3, 4}).reshape(x.shape());
}
Tensor token_norm(const Tensor& x) { return standardize(x, {1}); }  // each place of each image separately
Tensor rms_norm_by_hand(const Tensor& x) { return x / (x.square().mean(1, true) + 1e-6).sqrt(); }
// [/standardize]

const char* verdict(const Tensor& a, const Tensor& b) {
  return allclose(a, b, 0, 1e-5) ? "equal" : "different";
}

void one_formula() {
  const Tensor x = randn({8, 6, 4, 4}), channels_last = x.permute({0, 2, 3, 1});
  const auto row = [&](const char* name, int share, const Tensor& hand, const Tensor& library) {
    std::printf("  %-22s %9d %11d   %s\n", name, share, static_cast<int>(x.numel()) / share,
                verdict(hand, library));
  };
  std::printf(
      "x [8, 6, 4, 4]: images, channels, height, width. By hand and by the library:\n\n"
      "                           share one  statistics\n");
  row("batch norm", 8 * 4 * 4, batch_norm(x), nn::BatchNorm(6)(x));
  row("group norm, 2 groups", 3 * 4 * 4, group_norm(x, 2), nn::GroupNorm(2, 6)(x));
  row("group norm, 1 group", 6 * 4 * 4, whole_image_norm(x), nn::GroupNorm(1, 6)(x));
  row("layer norm, a place", 6, token_norm(x).permute({0, 2, 3, 1}), layer_norm(channels_last));
  row("RMS norm, a place", 6, rms_norm_by_hand(x).permute({0, 2, 3, 1}), rms_norm(channels_last));
}

double apart(const Tensor& a, const Tensor& b) { return ((a - b).norm() / b.norm()).item(); }

// [batches]
/// How much a token's output changes when the other tokens of its batch change, and when training ends. x [B,
/// C]
void batches() {
  std::printf(
      "\nThe output of one token, 32 channels, mean of 200 draws. Batch norm | layer norm:\n\n"
      "  batch   other tokens       training against inference\n");
  nn::BatchNorm batch(32);
  const nn::LayerNorm layer(32);
  const NoGrad guard;
  for (int i = 0; i < 300; ++i) batch(randn({64, 32}));  // the running statistics become those of the data
  for (const std::int64_t B : {2, 8, 32, 128}) {
    double others[2] = {}, modes[2] = {};
    for (int draw = 0; draw < 200; ++draw) {
      const Tensor token = randn({1, 32}), x = cat({token, randn({B - 1, 32})}),
                   z = cat({token, randn({B - 1, 32})});
      const auto first = [](const Tensor& y) { return y.slice(0, 0, 1); };
      const nn::BatchNorm training(32);
      others[0] += apart(first(training(z)), first(training(x))) / 200;
      others[1] += apart(first(layer(z)), first(layer(x))) / 200;
      batch.eval();
      modes[0] += apart(batch(token), first(training(x))) / 200;
      modes[1] += apart(layer(token), first(layer(x))) / 200;
    }
    std::printf("  %5d      %5.2f | %.2f             %5.2f | %.2f\n", static_cast<int>(B), others[0],
                others[1], modes[0], modes[1]);
  }
}
// [/batches]

void batch_of_one() {
  std::printf("\nA batch of one token, in training:\n");
  std::printf("  layer norm: |y| = %.2f\n", nn::LayerNorm(32)(randn({1, 32})).norm().item());
  try {
    nn::BatchNorm(32)(randn({1, 32}));
  } catch (const Error& e) {
    std::printf("  %s\n", e.what());
  }
}

// [rms]
void mean_or_not() {
  std::printf("\nRMS norm against layer norm, 64 channels, by the mean of a token of variance 1:\n");
  for (const double mean : {0.0, 0.3, 1.0, 3.0}) {
    const Tensor z = layer_norm(randn({1000, 64}));  // mean 0, variance 1
    std::printf("  mean %.1f   apart by %.2f\n", mean, apart(rms_norm(z + mean), layer_norm(z + mean)));
  }
}
// [/rms]

}  // namespace

int main() {
  manual_seed(0);
  one_formula();
  batches();
  batch_of_one();
  mean_or_not();
}
