// Draws the charts of the documentation: draw_pictures FOLDER. The drawings of things (blocks, the tape, ...)
// are made by hand.

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "docs/pictures/performance.h"
#include "gradus/gradus.h"
#include "kit/chart.h"
#include "kit/files.h"
#include "lab/charts.h"

namespace {

using namespace gradus;
using kit::AxisKind;
using kit::LineChart;
using kit::Series;

// --- 04: the error of a central difference

Series difference_errors(DType dtype, const char* name, int style) {
  Series series{.name = name, .style = style};
  const Tensor x = full({}, 0.7, dtype);
  const auto cube = [](const Tensor& z) { return (z * z * z).item(); };
  for (double h = 1e-1; h > 5e-9; h /= 10) {
    series.x.push_back(h);
    series.y.push_back(std::abs((cube(x + h) - cube(x - h)) / (2 * h) - 3 * 0.7 * 0.7));
  }
  return series;
}

LineChart gradient_check() {
  return {.title = "Error of a central difference",
          .description = "Both lines fall with h until rounding takes over, f32 at 1e-3, f64 at 1e-6.",
          .x_label = "h",
          .y_label = "error of the derivative of x^3 at 0.7",
          .x_axis = AxisKind::log,
          .y_axis = AxisKind::log,
          .series = {difference_errors(f32, "f32", 1), difference_errors(f64, "f64", 0)}};
}

// --- 08: schedules, and steps on gradients that are noise

template <class F>
Series sampled(const char* name, const F& f, double last, int style) {
  Series series{.name = name, .style = style};
  for (int step = 1; step <= last; step += step < 10 ? 1 : 10) {
    series.x.push_back(step);
    series.y.push_back(f(step) * 1e3);
  }
  return series;
}

LineChart schedules() {
  return {.title = "Learning rate schedules, warm-up over 400 steps",
          .description = "All rise in a straight line for 400 steps; then they differ.",
          .x_label = "step",
          .y_label = "learning rate / 0.001",
          .series = {sampled("warmup_linear", optim::warmup_linear(1e-3, 400), 4000, 0),
                     sampled("warmup_cosine", optim::warmup_cosine(1e-3, 400, 4000), 4000, 1),
                     sampled("inverse_sqrt", optim::inverse_sqrt(1e-3, 400), 4000, 2),
                     sampled("noam, d = 512", optim::noam(512, 400), 4000, 3)}};
}

/// Root mean square of Adam's steps on gradients N(0, 1), in units of the peak rate.
Series noise_steps(const char* name, const optim::Schedule& lr, int style) {
  Series series{.name = name, .style = style};
  Generator generator(1);
  Tensor w = zeros({4000}).requires_grad_();
  optim::Adam opt({w}, {.lr = lr});
  for (int step = 1; step <= 300; ++step) {
    const Tensor before = w.detach().clone();
    w.set_grad(randn(w.shape(), generator));
    opt.step();
    series.x.push_back(step);
    series.y.push_back((w.detach() - before).square().mean().sqrt().item());
  }
  return series;
}

LineChart noise() {
  return {.title = "Length of Adam's steps when gradients are noise",
          .description = "Without warm-up the first steps are at full length and in random directions.",
          .x_label = "step",
          .y_label = "root mean square step / peak rate",
          .x_axis = AxisKind::log,
          .y_low = 0,
          .series = {noise_steps("constant rate", 1.0, 1),
                     noise_steps("warm-up over 100 steps", optim::warmup_linear(1.0, 100), 0)}};
}

// --- the lab: the trap of averaging over positions

constexpr std::int64_t T = 8, C = 64, V = 16;

/// As Xiong et al. start: matrices N(0, 1/d), biases 0, queries and keys 0.
nn::PostLNBlock random_block(Generator& generator) {
  const nn::PostLNBlock block({.d_model = C, .heads = 1, .d_ff = C});
  for (const auto& [name, w] : block.named_parameters())
    if (!name.starts_with("norm"))
      nn::init::normal_(w, 0, w.dim() == 2 ? 1 / std::sqrt(double(C)) : 0, generator);
  const NoGrad guard;
  block.self_attn.in_proj_weight.slice(0, 0, 2 * C) = 0.0;
  return block;
}

enum class Judged { one_position, all_positions, all_with_one_target };

/// |dL/dW2| of the last of L Post-LN blocks.
double top_gradient(std::int64_t layers, std::uint64_t seed, Judged judged) {
  Generator generator(seed);
  Tensor x = randn({1, T, C}, generator);
  {
    const NoGrad guard;
    for (std::int64_t l = 1; l < layers; ++l) x = random_block(generator)(x);
  }
  const nn::PostLNBlock last = random_block(generator);
  const std::int64_t count = judged == Judged::one_position ? 1 : T;
  const Tensor head = randn({V, C}, generator) / std::sqrt(double(C));
  Tensor target = randint(0, V, {1, count}, generator);
  if (judged == Judged::all_with_one_target) target = zeros_like(target);
  cross_entropy(linear(last(x).slice(1, 0, count), head), target).backward();
  return last.ffn.linear2.weight.grad().norm().item();
}

Series top_gradients(const char* name, Judged judged, int style) {
  Series series{.name = name, .style = style};
  constexpr int kSeeds = 40;
  for (const std::int64_t layers : {1, 2, 4, 8, 16, 32}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) sum += top_gradient(layers, seed, judged);
    series.x.push_back(static_cast<double>(layers));
    series.y.push_back(sum / kSeeds);
  }
  return series;
}

LineChart trap() {
  return {.title = "Post-LN: whose loss?",
          .description =
              "The gradient of the loss at one position does not depend on depth, that of the mean does.",
          .x_label = "layers L",
          .y_label = "|∂loss/∂W₂| of the last block, 40 seeds",
          .x_axis = AxisKind::log,
          .y_low = 0,
          .x_ticks = {1, 2, 4, 8, 16, 32},
          .series = {top_gradients("at one position", Judged::one_position, 1),
                     top_gradients("mean over 8 positions", Judged::all_positions, 2),
                     top_gradients("mean, the same target at all 8", Judged::all_with_one_target, 3)}};
}

void draw_all(const std::filesystem::path& folder) {
  const DefaultDType guard(f64);
  const auto put = [&](const char* name, const auto& chart) {
    kit::replace_file(folder / (std::string(name) + ".svg"), kit::svg_file(kit::draw(chart)));
  };
  put("gradient_check", gradient_check());
  put("schedules", schedules());
  put("adam_noise", noise());
  put("trap", trap());
  const lab::Initialisation start{lab::measure_initialisation({}), {}, 0};
  put("lab_top_gradient", lab::top_gradient_chart(start));  // as in the lab's report
  put("lab_norms", lab::norm_chart(start));
  put("lab_gradients", lab::gradient_panels(start, true));
  put("lab_activation_gradients", lab::gradient_panels(start, false));
  docs::draw_performance(folder);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: draw_pictures FOLDER\n");
    return 2;
  }
  draw_all(argv[1]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "draw_pictures: %s\n", error.what());
  return 1;
}
