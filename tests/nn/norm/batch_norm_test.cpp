#include "gradus/nn/norm/batch_norm.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "check_op.h"
#include "exact_rows.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/checkpoint.h"
#include "nn/check_module.h"
#include "threads_guard.h"

using namespace gradus;
using test::check_error;
using test::check_module;
using test::max_difference;
using test::randomize;
using test::Tensors;

TEST_CASE("BatchNorm and GroupNorm: gradients, in every layout and mode") {
  const DefaultDType f64_default(f64);
  const nn::BatchNorm norm(3), last(3, {.axis = -1}), plain(3, {.affine = false, .running_stats = false});
  const nn::GroupNorm groups(2, 4);
  for (const nn::Module* module :
       {static_cast<const nn::Module*>(&norm), static_cast<const nn::Module*>(&last),
        static_cast<const nn::Module*>(&groups)})
    randomize(*module);
  check_module(norm, {randn({4, 3})}, [&](const Tensors& x) { return norm(x[0]); });
  check_module(norm, {randn({2, 5, 3}).transpose(1, 2)}, [&](const Tensors& x) { return norm(x[0]); });
  check_module(last, {randn({2, 4, 3})}, [&](const Tensors& x) { return last(x[0]); });
  check_module(plain, {randn({5, 3, 2})}, [&](const Tensors& x) { return plain(x[0]); });
  check_module(groups, {randn({2, 4, 3})}, [&](const Tensors& x) { return groups(x[0]); });
  norm.eval();
  check_module(norm, {randn({1, 3})}, [&](const Tensors& x) { return norm(x[0]); });
}

TEST_CASE("BatchNorm: its equation and its running statistics") {
  const DefaultDType f64_default(f64);
  const nn::BatchNorm norm(2, {.momentum = 0.25});
  randomize(norm);
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 6.0}, {5.0, 4.0}});
  // Channel 0: mean 3, variance 8/3; channel 1: mean 4, variance 8/3; unbiased 4.
  const Tensor expected = (x - tensor({3.0, 4.0})) / std::sqrt(8.0 / 3 + 1e-5) * norm.weight + norm.bias;
  CHECK(max_difference(norm(x), expected) < 1e-12);
  CHECK(max_difference(norm.running_mean, tensor({0.75, 1.0})) < 1e-15);
  CHECK(max_difference(norm.running_var, tensor({1.75, 1.75})) < 1e-15);
  CHECK(norm.num_batches_tracked.item() == 1);
  norm.eval();
  const Tensor evaluated =
      (x - norm.running_mean) / (norm.running_var + 1e-5).sqrt() * norm.weight + norm.bias;
  CHECK(max_difference(norm(x), evaluated) < 1e-12);
  CHECK(norm.num_batches_tracked.item() == 1);
  CHECK(max_difference(norm(x.slice(0, 0, 1)), evaluated.slice(0, 0, 1)) == 0);
}

TEST_CASE(
    "BatchNorm: as the norm of blocks, over batch and positions; the same bits for any number of threads") {
  const nn::TransformerEncoder encoder(
      {.layers = 1, .block = {.d_model = 8, .heads = 2, .norm = nn::make_norm<nn::BatchNorm>}});
  CHECK(encoder.layers[0].as<nn::PreLNBlock>()->norm1.kind() == "BatchNorm");
  const nn::BatchNorm norm(64, {.axis = -1});
  const Tensor x = randn({16, 32, 64});
  Tensor one;
  for (const int threads : {1, 2, 3}) {
    const test::ThreadsGuard guard(threads);
    const Tensor y = norm(x);
    if (threads == 1) one = y;
    CHECK(max_difference(y, one) == 0);
  }
  const Tensor y = norm(x);
  CHECK(y.mean({0, 1}).abs().max().item() < 1e-5);
  CHECK((y.square().mean({0, 1}) - 1).abs().max().item() < 1e-3);
}

TEST_CASE("BatchNorm: of values far from 0, with a mean as accurate as f32 allows") {
  manual_seed(0);
  const nn::BatchNorm norm(2);
  const Tensor x = (randn({300'000, 2}, f64) + 2e4).to(f32);
  CHECK(norm(x).mean(0).abs().max().item() < 0.001);  // numbers near 20000 are 0.00195 apart
}

TEST_CASE("BatchNorm, GroupNorm: channels of any size, forward and backward") {
  for (const DType dtype : {f32, f64}) {
    const DefaultDType guard(dtype);
    manual_seed(1);
    const nn::BatchNorm norm(3, {.eps = 0});
    const nn::GroupNorm groups(3, 6, {.eps = 0});
    const Tensor unit = randn({40, 3}), dy = randn({40, 3}), six = randn({4, 6, 5}), dy6 = randn({4, 6, 5});
    const auto run = [&](double size) {
      const Tensor sizes = tensor({1.0, size, 1.0}),
                   sizes6 = tensor({1.0, 1.0, size, size, 1.0, 1.0}).unsqueeze(1);
      Tensor x = unit * sizes, x6 = six * sizes6;
      x.requires_grad_(), x6.requires_grad_();
      const Tensor y = norm(x), y6 = groups(x6);
      y.backward(dy), y6.backward(dy6);
      return Tensors{y.detach(), x.grad() * sizes, y6.detach(), x6.grad() * sizes6};
    };
    const Tensors expected = run(1);
    for (const double size : dtype == f32 ? std::vector{0x1p60, 0x1p65, 0x1p100, 0x1p124}
                                          : std::vector{0x1p500, 0x1p520, 0x1p900, 0x1p1020}) {
      CAPTURE(size);
      const Tensors got = run(size);
      for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(max_difference(got[i], expected[i]) < (dtype == f32 ? 1e-5 : 1e-13));
      for (const std::size_t i : {0U, 1U})
        CHECK(max_difference(got[i].slice(1, 0, 1), expected[i].slice(1, 0, 1)) == 0);
    }
    norm.eval();
    check_error(
        [&] { norm(unit); },
        std::string("BatchNorm: running_var [3] contains inf, so eval mode would give 0: in training a "
                    "variance overflowed ") +
            (dtype == f32 ? "f32" : "f64") + ": make x smaller, or train in f64");
  }
}

TEST_CASE(
    "BatchNorm: any finite channel gives the result of long double, and does not change the others' bits") {
  test::for_each_hard_row([](const test::HardRow& row) {
    const DefaultDType guard(row.dtype);
    const nn::BatchNorm norm(2, {.eps = row.eps, .affine = false});
    for (const int n : {7, 1031}) {
      CAPTURE(n);
      const Tensor ordinary = randn({n}), dy = row.dy(n), hard = row.x(n);
      const auto run = [&](const Tensor& second) {
        Tensor x = stack({ordinary, second}, 1);
        x.requires_grad_();
        const Tensor y = norm(x);
        y.backward(stack({dy, dy}, 1));
        return Tensors{y.detach(), x.grad()};
      };
      const Tensors got = run(hard), without = run(ordinary);
      const test::ExactNorm of = test::exact_norm(test::exact(hard), test::exact(dy), row.eps, true);
      CHECK(test::worst_error(got[0].slice(1, 1, 2), of.xhat) < 2 * row.most_of_var());
      CHECK(test::worst_error(got[1].slice(1, 1, 2), of.dx) < 2 * row.most_of_var());
      for (const std::size_t i : {0U, 1U}) CHECK((got[i].slice(1, 0, 1) == without[i].slice(1, 0, 1)).all());
    }
  });
}

TEST_CASE("BatchNorm: a constant channel gives 0 with an eps of any size, and NaN with eps 0") {
  const DefaultDType guard(f64);
  const auto normalized = [](double value, double eps) {
    return nn::BatchNorm(1, {.eps = eps})(full({5, 1}, value));
  };
  for (const double value : {1e-200, 0.1, 1e155, 1.7e308})
    for (const double eps : {1e-300, 1e-5}) CHECK((normalized(value, eps) == 0).all());
  CHECK(isnan(normalized(3, 0)).all());
}

TEST_CASE("BatchNorm: with checkpoint a batch updates the running statistics once") {
  manual_seed(0);
  const Tensor x = randn({6, 3}), y = randn({6, 3});
  const auto remembered = [&](bool again, const Tensor& batch, const nn::BatchNorm& norm) {
    const auto f = [norm](const Tensor& h) { return norm(h); };
    (again ? checkpoint(f, batch) : f(batch)).sum().backward();
    CHECK_FALSE(recomputing());
    return std::vector{norm.running_mean.clone(), norm.running_var.clone(), norm.num_batches_tracked.to(f32)};
  };
  const nn::BatchNorm with(3), without(3);
  for (const Tensor& batch : {x, y}) {
    const auto a = remembered(true, batch, with), b = remembered(false, batch, without);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK((a[i] == b[i]).all());
  }
  CHECK(with.num_batches_tracked.item() == 2);
}

TEST_CASE("BatchNorm and GroupNorm: bad calls") {
  check_error([] { nn::BatchNorm(0); }, "BatchNorm: expects channels of 1 or more, got 0");
  check_error([] { nn::BatchNorm(4, {.momentum = 2}); }, "BatchNorm: expects momentum from 0 to 1, got 2");
  const nn::BatchNorm norm(4);
  check_error(
      [&] {
        norm(zeros({2, 5}));
      },
      "BatchNorm: expects x [B, C, ...] of 4 channels along axis 1, got [2, 5]");
  check_error([&] { norm(zeros({4})); },
              "BatchNorm: expects x [B, C, ...] of 4 channels along axis 1, got [4]");
  check_error(
      [&] {
        norm(zeros({1, 4}));
      },
      "BatchNorm: expects more than one value per channel in training, got x [1, 4]");
  check_error([] { nn::GroupNorm(3, 4); }, "GroupNorm: channels 4 are not divisible by groups 3");
  check_error(
      [] {
        nn::GroupNorm(2, 4)(zeros({2, 3}));
      },
      "GroupNorm: expects x [B, C, ...] of 4 channels along axis 1, got [2, 3]");
}
