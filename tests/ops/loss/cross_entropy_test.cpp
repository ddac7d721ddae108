#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

constexpr Reduction all_reductions[] = {Reduction::none, Reduction::mean, Reduction::sum};

Op cross_entropy_with(const CrossEntropyOptions& options) {
  return [options](const Tensor& logits, const Tensor& target) {
    return cross_entropy(logits, target, options);
  };
}
Op nll_with(const CrossEntropyOptions& options) {
  return [options](const Tensor& x, const Tensor& target) { return nll_loss(x, target, options); };
}

TEST_CASE("cross_entropy, nll_loss: gradients, layouts, threads") {
  manual_seed(0);
  for (const Shape& rows : {Shape{}, {1}, {4}, {2, 3}, {0}, {2, 0}, {70}})
    for (const std::int64_t classes : {1, 2, 5, 33})
      for (const Reduction reduction : all_reductions) {
        Shape shape = rows;
        shape.push_back(classes);
        const Tensor target = randint(0, classes, rows);
        check_op("cross_entropy", cross_entropy_with({.reduction = reduction}), {shape, target});
        if (classes > 1)  // one class: the loss is always 0
          check_op("cross_entropy", cross_entropy_with({.label_smoothing = 0.3, .reduction = reduction}),
                   {shape, target});
        check_op("nll_loss", nll_with({.reduction = reduction}), {Input(shape).between(-4, 0), target});
      }
  check_op("cross_entropy", cross_entropy_with({}), {{600, 101}, randint(0, 101, {600})});
}

TEST_CASE("cross_entropy: with ignored targets, gradients, layouts, threads") {
  for (const Reduction reduction : all_reductions) {
    const Tensor target = tensor({{1, -100, 0}, {-100, 3, 2}});
    check_op("cross_entropy", cross_entropy_with({.label_smoothing = 0.1, .reduction = reduction}),
             {{2, 3, 4}, target});
    check_op("nll_loss", nll_with({.reduction = reduction}), {Input({2, 3, 4}).between(-4, 0), target});
  }
}

TEST_CASE("cross_entropy: by definition") {
  const Tensor logits = tensor({{1.0, 2.0, 3.0}, {0.0, 0.0, 0.0}}, f64);
  const double first = std::log(std::exp(1) + std::exp(2) + std::exp(3)) - 3, second = std::log(3);
  const Tensor target = tensor({2, 0});
  CHECK(cross_entropy(logits, target).item() == doctest::Approx((first + second) / 2).epsilon(1e-14));
  CHECK(cross_entropy(logits, target, {.reduction = Reduction::sum}).item() ==
        doctest::Approx(first + second).epsilon(1e-14));
  const Tensor each = cross_entropy(logits, target, {.reduction = Reduction::none});
  CHECK(each.shape() == Shape{2});
  CHECK(each[0].item() == doctest::Approx(first).epsilon(1e-14));
  CHECK(each[1].item() == doctest::Approx(second).epsilon(1e-14));
}

TEST_CASE("cross_entropy: equals nll_loss of log_softmax, values and gradients") {
  manual_seed(1);
  const Tensor x = leaf(randn({4, 6, 9}, f64)), target = randint(0, 9, {4, 6});
  cross_entropy(x, target).backward();
  const Tensor dx = x.grad();
  x.zero_grad();
  const Tensor expected = nll_loss(log_softmax(x, -1), target);
  expected.backward();
  CHECK(cross_entropy(x, target).item() == doctest::Approx(expected.item()).epsilon(1e-14));
  CHECK((dx - x.grad()).abs().max().item() < 1e-16);
}

TEST_CASE("cross_entropy: label smoothing mixes in the mean over all classes") {
  manual_seed(2);
  const Tensor x = randn({5, 7}, f64), target = randint(0, 7, {5});
  const Tensor logp = log_softmax(x, -1);
  const double plain = nll_loss(logp, target).item(), uniform = -logp.mean().item();
  for (const double e : {0.0, 0.1, 1.0})
    CHECK(cross_entropy(x, target, {.label_smoothing = e}).item() ==
          doctest::Approx((1 - e) * plain + e * uniform).epsilon(1e-14));
}

TEST_CASE("cross_entropy: the mean is over the targets that count") {
  manual_seed(3);
  const Tensor x = randn({6, 5}, f64);
  const Tensor all = cross_entropy(x.slice(0, 0, 3), tensor({0, 1, 2}));
  CHECK(cross_entropy(x, tensor({0, 1, 2, -100, -100, -100})).item() ==
        doctest::Approx(all.item()).epsilon(1e-14));
  CHECK(cross_entropy(x, tensor({0, 1, 2, 4, 4, 4}), {.ignore_index = 4}).item() ==
        doctest::Approx(all.item()).epsilon(1e-14));
}

TEST_CASE("cross_entropy: ignored rows have loss and gradient exactly 0, for any logits") {
  for (const double bad : {-kInf, kInf, static_cast<double>(NAN)})
    for (const double smoothing : {0.0, 0.1}) {
      const Tensor x = leaf(tensor({{1.0, 2.0}, {bad, bad}, {bad, 0.0}}));
      const Tensor target = tensor({0, -100, -100});
      const Tensor each =
          cross_entropy(x, target, {.label_smoothing = smoothing, .reduction = Reduction::none});
      CHECK(each[1].item() == 0);
      CHECK(each[2].item() == 0);
      const Tensor loss = cross_entropy(x, target, {.label_smoothing = smoothing});
      CHECK(std::isfinite(loss.item()));
      loss.backward();
      CHECK((x.grad().slice(0, 1) == 0).all());
      CHECK((x.grad()[0] != 0).all());
    }
}

TEST_CASE("cross_entropy, nll_loss: all ignored, or no rows, is 0 with zero gradient") {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const Tensor x = leaf(randn({2, 3}));
    const Tensor loss = cross_entropy(x, tensor({-100, -100}), {.reduction = reduction});
    CHECK(loss.item() == 0);
    loss.backward();
    CHECK((x.grad() == 0).all());
    CHECK(nll_loss(x, tensor({-100, -100}), {.reduction = reduction}).item() == 0);
    CHECK(cross_entropy(zeros({0, 3}), zeros({0}, i64), {.reduction = reduction}).item() == 0);
  }
}

TEST_CASE("cross_entropy: extreme logits") {
  CHECK(cross_entropy(tensor({1e30, -1e30}), tensor(0)).item() == 0);
  CHECK(cross_entropy(tensor({0.0, -kInf}), tensor(0)).item() == 0);
  CHECK(cross_entropy(tensor({0.0, -kInf}), tensor(1)).item() == kInf);
  CHECK(std::isnan(cross_entropy(tensor({-kInf, -kInf}), tensor(0)).item()));
  // f32 has 4 digits left after the point at 10000: the logarithm is not added to that.
  CHECK(cross_entropy(tensor({10000.0, 10000.0}), tensor(0)).item() ==
        doctest::Approx(std::log(2)).epsilon(1e-6));
}

TEST_CASE("cross_entropy: gradients of each row add up to 0") {
  const Tensor x = leaf(randn({10, 20}, f64));
  cross_entropy(x, randint(0, 20, {10}), {.label_smoothing = 0.1}).backward();
  CHECK(x.grad().sum(-1).abs().max().item() < 1e-16);
}

TEST_CASE("cross_entropy, nll_loss: errors") {
  const auto call = [](const Tensor& x, const Tensor& target, const CrossEntropyOptions& options = {}) {
    return [=] { cross_entropy(x, target, options); };
  };
  check_error(call(zeros({8, 10}), zeros({9}, i64)),
              "cross_entropy: logits [8, 10] and target [9] do not match: expects a target [8] (classes are "
              "the last axis)");
  check_error(call(zeros({8, 10}), zeros({8, 10}, i64)),
              "cross_entropy: logits [8, 10] and target [8, 10] do not match: expects a target [8] (classes "
              "are the last axis): for one-hot rows pass target.argmax(-1)");
  check_error(call(zeros({8, 10}), zeros({8, 1}, i64)),
              "cross_entropy: logits [8, 10] and target [8, 1] do not match: expects a target [8] (classes "
              "are the last axis): drop its last axis with target.squeeze(-1)");
  check_error(call(zeros({2, 10, 8}), zeros({2, 8}, i64)),
              "cross_entropy: logits [2, 10, 8] and target [2, 8] do not match: expects a target [2, 10] "
              "(classes are the last axis): PyTorch's layout [B, V, T] becomes [B, T, V] with "
              ".transpose(1, 2)");
  check_error(call(zeros({2, 10, 8, 7}), zeros({2, 8, 7}, i64)),
              "cross_entropy: logits [2, 10, 8, 7] and target [2, 8, 7] do not match: expects a target [2, "
              "10, 8] (classes are the last axis): PyTorch's layout, classes second, becomes this one with "
              ".permute()");
  check_error(call(zeros({8, 10}), zeros({8})),
              "cross_entropy: expects an i64 target [8] of class numbers, got f32 [8]: convert with "
              ".to(i64)");
  check_error(call(zeros({8}, i64), zeros({8, 10})),
              "cross_entropy: expects logits in f32 or f64 and then a target in i64, got i64 [8] and f32 "
              "[8, 10]: are they swapped?");
  check_error(call(zeros({2, 10}), tensor({3, 10})),
              "cross_entropy: target 10 of row 1 is out of range: logits [2, 10] have 10 classes");
  check_error(call(zeros({2, 10}), tensor({-1, 3})),
              "cross_entropy: target -1 of row 0 is out of range: logits [2, 10] have 10 classes");
  check_error(call(zeros({2, 10}), tensor({-100, 3}), {.ignore_index = -1}),
              "cross_entropy: target -100 of row 0 is out of range: logits [2, 10] have 10 classes");
  check_error(call(zeros({2, 10}), tensor({-100, 3}), {.ignore_index = {}}),
              "cross_entropy: target -100 of row 0 is out of range: logits [2, 10] have 10 classes");
  check_error(call(zeros({2, 0}), tensor({0, 0})),
              "cross_entropy: target 0 of row 0 is out of range: logits [2, 0] have 0 classes");
  check_error(call(zeros({}), zeros({}, i64)), "cross_entropy: expects logits [..., V], got []");
  check_error(call(zeros({2, 10}), tensor({1, 3}), {.label_smoothing = 1.5}),
              "cross_entropy: expects label_smoothing from 0 to 1, got 1.5");
  check_error(call(zeros({2, 10}, i64), tensor({1, 3})),
              "cross_entropy: expects f32 or f64, got i64 [2, 10]: convert with .to(f32)");
  check_error(call(Tensor(), tensor({1, 3})), "cross_entropy" + kUndefined);
  check_error(
      call(zeros({2, 10}), Tensor()),
      "cross_entropy: the target is undefined: assign it first; a grad() is undefined before backward");
  const auto nll = [](const Tensor& x, const Tensor& target, const CrossEntropyOptions& options = {}) {
    return [=] { nll_loss(x, target, options); };
  };
  check_error(nll(zeros({8, 10}), zeros({9}, i64)),
              "nll_loss: log_probabilities [8, 10] and target [9] do not match: expects a target [8] "
              "(classes are the last axis)");
  check_error(nll(zeros({8, 10}), zeros({8})),
              "nll_loss: expects an i64 target [8] of class numbers, got f32 [8]: convert with .to(i64)");
  check_error(nll(zeros({8}, i64), zeros({8, 10})),
              "nll_loss: expects log_probabilities in f32 or f64 and then a target in i64, got i64 [8] and "
              "f32 [8, 10]: are they swapped?");
  check_error(nll(zeros({2, 10}), tensor({3, 12})),
              "nll_loss: target 12 of row 1 is out of range: log_probabilities [2, 10] have 10 classes");
  check_error(nll(zeros({2, 10}), tensor({1, 3}), {.label_smoothing = 0.1}),
              "nll_loss: label smoothing is an option of cross_entropy, got 0.1");
  check_error(nll(zeros({2, 10}, i64), tensor({1, 3})),
              "nll_loss: expects f32 or f64, got i64 [2, 10]: convert with .to(f32)");
  check_error(nll(Tensor(), tensor({1, 3})), "nll_loss" + kUndefined);
}

TEST_CASE("nll_loss: rejects logits and probabilities") {
  const Tensor x = tensor({{-1.0, 2.0, 0.5}, {3.0, -2.0, -0.5}}), target = tensor({0, 2});
  const std::string remedy = ": pass log_softmax(logits, -1), or the logits to cross_entropy";
  CHECK(nll_loss(x, target).item() == 0.75);  // only the targets' are looked at
  check_error(
      [&] {
        nll_loss(x, tensor({0, 0}));
      },
      "nll_loss: expects log-probabilities, which are not positive, got 3 for target 0 of row 1" + remedy);
  check_error(
      [&] {
        nll_loss(full({1, 4}, 0.25, f64), tensor({3}));
      },
      "nll_loss: expects log-probabilities, which are not positive, got 0.25 for target 3 of row 0" + remedy);
  check_error(
      [&] {
        nll_loss(full({1, 4}, INFINITY), tensor({3}));
      },
      "nll_loss: expects log-probabilities, which are not positive, got inf for target 3 of row 0" + remedy);
  CHECK(nll_loss(x, tensor({0, -100})).item() == 1);
  CHECK(nll_loss(x, tensor({0, 0}), {.weight = tensor({0.0, 1.0, 1.0})}).item() == 0);  // they do not count
  // What rounding leaves is not an error, nor is a NaN, which the loss shows.
  CHECK(nll_loss(tensor({{1e-6, -30.0}}), tensor({0})).item() == doctest::Approx(-1e-6));
  CHECK(std::isnan(nll_loss(full({1, 2}, NAN), tensor({0})).item()));
}

TEST_CASE("targets that change between forward and backward are an error, not another class's gradient") {
  Tensor x = zeros({2, 10});
  x.requires_grad_();
  const Tensor target = tensor({3, 4}), pairs = tensor({{3, 0}, {4, 0}});
  const Tensor losses[] = {cross_entropy(x, target), nll_loss(x, target), cross_entropy(x, target.view({2}))};
  const Tensor apart = cross_entropy(x, pairs.select(1, 0));  // not contiguous: it has a copy
  target.fill_(1'000'000);
  pairs.fill_(1'000'000);
  for (const Tensor& loss : losses)
    CHECK_THROWS_WITH_AS(loss.backward(), doctest::Contains("i64 [2] it saved was changed in place"), Error);
  apart.backward();
  CHECK(x.grad()[0][3].item() == doctest::Approx(-0.45));
}

}  // namespace
}  // namespace gradus::test
