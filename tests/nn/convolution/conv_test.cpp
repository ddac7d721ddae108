#include "gradus/nn/convolution/conv.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/nn/nn.h"
#include "nn/check_module.h"
#include "threads_guard.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::keys_and_shapes;
using test::max_difference;
using test::Tensors;
using Lines = std::vector<std::string>;

namespace {

/// The definition, with a loop over each index.
Tensor by_definition(const Tensor& x, const nn::Conv2d& conv, const nn::Size2& stride,
                     const nn::Size2& padding) {
  const Tensor& w = conv.weight;
  const std::int64_t H = (x.size(2) + 2 * padding.h - w.size(2)) / stride.h + 1,
                     W = (x.size(3) + 2 * padding.w - w.size(3)) / stride.w + 1;
  const Tensor y = zeros({x.size(0), w.size(0), H, W}, f64);
  const NoGrad guard;
  for (std::int64_t b = 0; b < y.size(0); ++b)
    for (std::int64_t o = 0; o < y.size(1); ++o)
      for (std::int64_t i = 0; i < H; ++i)
        for (std::int64_t j = 0; j < W; ++j) {
          double sum = conv.bias.defined() ? conv.bias[o].item() : 0;
          for (std::int64_t c = 0; c < x.size(1); ++c)
            for (std::int64_t k = 0; k < w.size(2); ++k)
              for (std::int64_t l = 0; l < w.size(3); ++l) {
                const std::int64_t row = i * stride.h + k - padding.h, column = j * stride.w + l - padding.w;
                if (row < 0 || row >= x.size(2) || column < 0 || column >= x.size(3)) continue;
                sum += x[b][c][row][column].item() * w[o][c][k][l].item();
              }
          y[b][o][i][j] = sum;
        }
  return y;
}

}  // namespace

TEST_CASE("Conv2d: against its definition, and gradients") {
  const DefaultDType f64_default(f64);
  const Tensor x = randn({2, 2, 5, 4}), turned = randn({2, 4, 5, 2}).transpose(1, 3);
  for (const auto& [stride, padding] : {std::pair<nn::Size2, nn::Size2>{1, 0}, {{2, 1}, {1, 2}}, {3, 1}}) {
    const nn::Conv2d conv(2, 3, {3, 2}, {.stride = stride, .padding = padding});
    CHECK(max_difference(conv(x), by_definition(x, conv, stride, padding)) < 1e-12);
    CHECK(max_difference(conv(turned), by_definition(turned, conv, stride, padding)) < 1e-12);
    check_module(conv, {x}, [&](const Tensors& in) { return conv(in[0]); });
  }
  const nn::Conv2d conv(2, 3, 3, {.bias = false});
  CHECK(keys_and_shapes(conv) == Lines{"weight [3, 2, 3, 3]"});
  check_module(conv, {turned}, [&](const Tensors& in) { return conv(in[0]); });
}

TEST_CASE("Conv1d, Conv2d: weights and bias start uniform up to 1 / sqrt(fan_in)") {
  const nn::Conv1d line(6, 60, 6);
  const nn::Conv2d image(4, 60, {3, 3});
  for (const Tensor* x : {&line.weight, &line.bias, &image.weight, &image.bias}) {
    const Tensor in_bounds = *x * 6;  // fan_in is 36
    CHECK(in_bounds.max().item() <= 1);
    CHECK(in_bounds.max().item() > 0.8);
    CHECK(in_bounds.min().item() >= -1);
    CHECK(in_bounds.min().item() < -0.8);
    CHECK(std::abs(in_bounds.mean().item()) < 0.3);
  }
}

TEST_CASE("Conv1d is Conv2d of height 1; gradients; an empty batch gives an empty result") {
  const DefaultDType f64_default(f64);
  const nn::Conv1d conv(3, 2, 3, {.stride = 2, .padding = 1});
  const nn::Conv2d flat(3, 2, {1, 3}, {.stride = {1, 2}, .padding = {0, 1}});
  flat.load_state_dict([&] {
    StateDict state;
    state.set("weight", conv.weight.unsqueeze(2));
    state.set("bias", conv.bias);
    return state;
  }());
  const Tensor x = randn({2, 3, 7});
  CHECK(max_difference(conv(x), flat(x.unsqueeze(2)).squeeze(2)) < 1e-12);
  check_module(conv, {x}, [&](const Tensors& in) { return conv(in[0]); });
  CHECK(conv(zeros({0, 3, 7})).shape() == Shape{0, 2, 4});
  for (const auto& [name, w] : conv.named_parameters())
    CHECK(w.detach().abs().max().item() <= 1 / std::sqrt(9.0));
}

TEST_CASE("convolution and pooling: the same bits for any number of threads") {
  const nn::Conv2d conv(8, 32, 3, {.padding = 1});
  const nn::MaxPool2d pool(2);
  Tensor x = randn({4, 8, 24, 24});
  x.requires_grad_();
  Tensor y1, dx1;
  for (const int threads : {1, 2, 3}) {
    const test::ThreadsGuard guard(threads);
    x.zero_grad();
    const Tensor y = pool(conv(x));
    y.square().sum().backward();
    if (threads == 1) y1 = y, dx1 = x.grad().clone();
    CHECK(max_difference(y, y1) == 0);
    CHECK(max_difference(x.grad(), dx1) == 0);
  }
}

TEST_CASE("pooling: values, gradients") {
  const DefaultDType f64_default(f64);
  const Tensor x = arange(24.0).reshape({1, 1, 4, 6});
  CHECK(max_difference(nn::MaxPool2d(2)(x).flatten(), tensor({7.0, 9.0, 11.0, 19.0, 21.0, 23.0})) == 0);
  CHECK(max_difference(nn::AvgPool2d(2)(x).flatten(), tensor({3.5, 5.5, 7.5, 15.5, 17.5, 19.5})) == 0);
  CHECK(nn::MaxPool1d(2)(x.squeeze(0)).shape() == Shape{1, 4, 3});
  CHECK(nn::AvgPool1d(3, {.stride = 1})(x.squeeze(0)).shape() == Shape{1, 4, 4});
  const Tensor r = randn({2, 3, 5, 6});
  const nn::MaxPool2d max2d({2, 3}, {.stride = nn::Size2{1, 2}});
  const nn::AvgPool2d avg2d(2, {.stride = 1});
  check_module(max2d, {r}, [&](const Tensors& in) { return max2d(in[0]); });
  check_module(avg2d, {r}, [&](const Tensors& in) { return avg2d(in[0]); });
}

TEST_CASE("convolution and pooling: bad calls") {
  check_error([] { nn::Conv2d(0, 3, 3); }, "Conv2d: expects in of 1 or more, got 0");
  check_error([] { nn::Conv2d(3, 3, {0, 3}); }, "Conv2d: expects kernel of 1 or more, got 0");
  check_error([] { nn::Conv2d(3, -1, 3); }, "Conv2d: expects out of 1 or more, got -1");
  check_error([] { nn::Conv2d(3, 3, {3, 0}); }, "Conv2d: expects kernel of 1 or more, got 0");
  check_error([] { nn::Conv2d(3, 3, 3, {.stride = {1, 0}}); }, "Conv2d: expects stride of 1 or more, got 0");
  check_error(
      [] {
        nn::Conv2d(3, 3, 3, {.padding = {0, -2}});
      },
      "Conv2d: expects padding of 0 or more, got -2");
  check_error([] { nn::Conv1d(0, 3, 3); }, "Conv1d: expects in of 1 or more, got 0");
  check_error([] { nn::Conv1d(3, 0, 3); }, "Conv1d: expects out of 1 or more, got 0");
  check_error([] { nn::Conv1d(3, 3, 0); }, "Conv1d: expects kernel of 1 or more, got 0");
  check_error([] { nn::Conv1d(3, 3, 3, {.padding = -1}); }, "Conv1d: expects padding of 0 or more, got -1");
  check_error([] { nn::Conv1d(3, 3, 3, {.stride = 0}); }, "Conv1d: expects stride of 1 or more, got 0");
  const nn::Conv2d conv(3, 4, 3);
  check_error(
      [&] {
        conv(zeros({3, 8, 8}));
      },
      "Conv2d: expects x [B, C, H, W], got [3, 8, 8]: add a batch axis with .unsqueeze(0)");
  check_error([&] { conv(zeros({1, 2, 8, 8})); }, "Conv2d: expects x [B, 3, H, W], got [1, 2, 8, 8]");
  check_error(
      [&] {
        conv(zeros({1, 3, 8, 2}));
      },
      "Conv2d: a window of 3 does not fit into x [1, 3, 8, 2] along axis 3, padding included");
  check_error(
      [] {
        nn::MaxPool2d(3)(zeros({1, 1, 2, 5}));
      },
      "MaxPool2d: a window of 3 does not fit into x [1, 1, 2, 5] along axis 2, padding included");
  check_error([] { nn::MaxPool1d(0); }, "MaxPool1d: expects kernel of 1 or more, got 0");
  check_error(
      [] {
        nn::AvgPool1d(2)(zeros({3, 4}));
      },
      "AvgPool1d: expects x [B, C, T], got [3, 4]: add a batch axis with .unsqueeze(0)");
}
