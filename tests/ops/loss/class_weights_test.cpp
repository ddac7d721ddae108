// Class weights and targets of probabilities in cross_entropy, with label smoothing and ignored targets.

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

CrossEntropyOptions with(const Tensor& weight, double smoothing, Reduction reduction) {
  return {.weight = weight, .ignore_index = -1, .label_smoothing = smoothing, .reduction = reduction};
}

/// Weights of the logits' dtype: check_op runs in f64 and f32.
Op weighted(Tensor (*loss)(const Tensor&, const Tensor&, const CrossEntropyOptions&), const Tensor& weight,
            double smoothing, Reduction reduction) {
  return [=](const Tensor& x, const Tensor& target) {
    const Tensor t = is_floating(target.dtype()) ? target.to(x.dtype()) : target;
    return loss(x, t, with(weight.to(x.dtype()), smoothing, reduction));
  };
}

TEST_CASE("class weights: gradients, layouts, threads") {
  manual_seed(0);
  for (const Reduction reduction : all_reductions)
    for (const Shape& rows : {Shape{}, {4}, {2, 3}, {0}}) {
      Shape shape = rows;
      shape.push_back(5);
      const Tensor target = randint(0, 5, rows), weight = rand({5}, f64) + 0.2;
      for (const double e : {0.0, 0.2, 1.0})
        check_op("cross_entropy", weighted(cross_entropy, weight, e, reduction), {shape, target});
      check_op("nll_loss", weighted(nll_loss, weight, 0, reduction), {Input(shape).between(-4, 0), target});
    }
  const Tensor target = tensor({{1, -1, 0}, {-1, 3, 2}}), weight = tensor({0.5, 2.0, 0.0, 1.0}, f64);
  for (const Reduction reduction : all_reductions)
    for (const double e : {0.0, 0.2})
      check_op("cross_entropy", weighted(cross_entropy, weight, e, reduction), {{2, 3, 4}, target});
  check_op("cross_entropy", weighted(cross_entropy, rand({101}, f64) + 0.1, 0.1, Reduction::mean),
           {{600, 101}, randint(0, 101, {600})});
}

TEST_CASE("class weights: by definition") {
  manual_seed(1);
  const Tensor x = randn({4, 3}, f64), w = tensor({1.0, 3.0, 0.5}, f64), target = tensor({2, 1, -1, 1});
  const Tensor log_p = log_softmax(x, -1);
  const auto at = [&](std::int64_t i, std::int64_t j) { return -log_p[i][j].item(); };
  const Values plain = {0.5 * at(0, 2), 3 * at(1, 1), 0, 3 * at(3, 1)};
  const double all = 0.5 + 3 + 3;
  for (const double e : {0.0, 0.3, 1.0}) {
    Values each;
    double total = 0;
    for (const std::int64_t i : {0, 1, 2, 3}) {
      double smooth = 0;
      if (i != 2)
        for (const std::int64_t j : {0, 1, 2}) smooth += e / 3 * w[j].item() * at(i, j);
      each.push_back((1 - e) * plain[static_cast<std::size_t>(i)] + smooth);
      total += each.back();
    }
    const Values got = values(cross_entropy(x, target, with(w, e, Reduction::none)));
    for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == doctest::Approx(each[i]).epsilon(1e-13));
    CHECK(cross_entropy(x, target, with(w, e, Reduction::sum)).item() ==
          doctest::Approx(total).epsilon(1e-13));
    CHECK(cross_entropy(x, target, with(w, e, Reduction::mean)).item() ==
          doctest::Approx(total / all).epsilon(1e-13));
    for (const Reduction reduction : {Reduction::sum, Reduction::mean})
      CHECK(linear_cross_entropy(x, eye(3, 3, f64), target, with(w, e, reduction)).item() ==
            doctest::Approx(cross_entropy(x, target, with(w, e, reduction)).item()).epsilon(1e-13));
  }
  CHECK(nll_loss(log_p, target, with(w, 0, Reduction::mean)).item() ==
        doctest::Approx((plain[0] + plain[1] + plain[3]) / all).epsilon(1e-13));
  // Weights of 1 are none.
  const double one = cross_entropy(x, target, with(ones({3}, f64), 0.2, Reduction::mean)).item();
  CHECK(one ==
        doctest::Approx(cross_entropy(x, target, with({}, 0.2, Reduction::mean)).item()).epsilon(1e-14));
}

TEST_CASE("class weights: linear_cross_entropy has the gradients of its two parts") {
  manual_seed(2);
  const Tensor hidden = randn({5, 4}, f64), head = randn({7, 4}, f64), w = rand({7}, f64);
  const Tensor target = tensor({1, -1, 6, 0, 1});
  for (const double e : {0.0, 0.1}) {
    const auto gradients = [&](auto loss) {
      const Tensor x = leaf(hidden.clone()), y = leaf(head.clone());
      loss(x, y).backward();
      return std::pair(x.grad(), y.grad());
    };
    const auto options = with(w, e, Reduction::mean);
    const auto fused =
        gradients([&](auto& x, auto& y) { return linear_cross_entropy(x, y, target, options); });
    const auto apart =
        gradients([&](auto& x, auto& y) { return cross_entropy(linear(x, y), target, options); });
    CHECK(allclose(fused.first, apart.first, 1e-12, 1e-15));
    CHECK(allclose(fused.second, apart.second, 1e-12, 1e-15));
  }
}

TEST_CASE("class weights: a class of weight 0 is ignored, for any logit") {
  const Tensor x = leaf(tensor({{1.0, -kInf, 2.0}, {0.5, 1.0, -1.0}})), w = tensor({1.0, 0.0, 1.0});
  const Tensor loss = cross_entropy(x, tensor({1, 0}), {.weight = w, .label_smoothing = 0.1});
  CHECK(std::isfinite(loss.item()));
  loss.backward();
  CHECK(isfinite(x.grad()).all());
  // Only such targets: 0, as when all are ignored.
  CHECK(cross_entropy(x, tensor({1, 1}), {.weight = w}).item() == 0);
  CHECK(cross_entropy(x, tensor({1, 1}), {.weight = w, .label_smoothing = 0.1}).item() == 0);
  CHECK(cross_entropy(x, tensor({-100, -100}), {.weight = w}).item() == 0);
  CHECK(nll_loss(x, tensor({1, 1}), {.weight = w}).item() == 0);
}

TEST_CASE("targets of probabilities: gradients of both, layouts, threads") {
  manual_seed(3);
  for (const Reduction reduction : all_reductions)
    for (const Shape& shape : {Shape{5}, {4, 5}, {2, 3, 4}, {3, 1}, {70, 300}}) {
      const Tensor weight = rand({shape.back()}, f64) + 0.2;
      for (const double e : {0.0, 0.2}) {
        const auto soft = [&](const Tensor& w) {
          return [=](const Tensor& x, const Tensor& p) {
            return cross_entropy(x, p, with(w.defined() ? w.to(x.dtype()) : w, e, reduction));
          };
        };
        check_op("soft", soft(Tensor()), {shape, Input(shape).between(0.05, 1)});
        check_op("soft weighted", soft(weight), {shape, Input(shape).between(0.05, 1)});
      }
    }
}

TEST_CASE("targets of probabilities: by definition, and one-hot rows are classes") {
  manual_seed(4);
  const Tensor x = randn({2, 3, 5}, f64), p = softmax(randn({2, 3, 5}, f64), -1), w = rand({5}, f64);
  const Tensor log_p = log_softmax(x, -1);
  for (const double e : {0.0, 0.1, 1.0}) {
    const Tensor each = -sum(log_p * (p * (1 - e) + e / 5) * w, -1);
    CHECK(allclose(cross_entropy(x, p, with(w, e, Reduction::none)), each, 1e-13, 1e-15));
    CHECK(cross_entropy(x, p, with(w, e, Reduction::sum)).item() ==
          doctest::Approx(each.sum().item()).epsilon(1e-13));
    CHECK(cross_entropy(x, p, with(w, e, Reduction::mean)).item() ==
          doctest::Approx(each.sum().item() / 6).epsilon(1e-13));  // by rows, not by weights
    const Tensor classes = randint(0, 5, {2, 3});
    for (const Reduction reduction : all_reductions)
      CHECK(allclose(cross_entropy(x, one_hot(classes, 5).to(f64), with({}, e, reduction)),
                     cross_entropy(x, classes, with({}, e, reduction)), 1e-13, 1e-15));
  }
}

TEST_CASE("targets of probabilities: masked classes, and nothing") {
  const Tensor x = leaf(tensor({1.0, -kInf, 2.0})), p = leaf(tensor({0.25, 0.0, 0.75}));
  const Tensor loss = cross_entropy(x, p);
  CHECK(loss.item() == doctest::Approx(std::log(std::exp(1) + std::exp(2)) - 1.75));
  loss.backward();
  CHECK(isfinite(x.grad()).all());
  CHECK(isfinite(p.grad()).all());
  CHECK(cross_entropy(x, tensor({0.5, 0.5, 0.0})).item() == kInf);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum})
    CHECK(cross_entropy(zeros({0, 3}), zeros({0, 3}), {.reduction = reduction}).item() == 0);
}

TEST_CASE("class weights and targets of probabilities: errors") {
  const Tensor x = zeros({2, 4}), target = tensor({1, 3});
  const auto call = [&](const Tensor& t, const CrossEntropyOptions& options) {
    return [=] { cross_entropy(x, t, options); };
  };
  for (const Tensor& t : {target, zeros({2, 4})}) {
    check_error(call(t, {.weight = zeros({3})}),
                "cross_entropy: expects class weights f32 [4], one for each class, got f32 [3]");
    check_error(call(t, {.weight = zeros({4}, f64)}),
                "cross_entropy: expects class weights f32 [4], one for each class, got f64 [4]");
    check_error(call(t, {.weight = leaf(zeros({4}))}),
                "cross_entropy: the class weights [4] require grad, and get none: pass weight.detach()");
    check_error(call(t, {.label_smoothing = -0.1}),
                "cross_entropy: expects label_smoothing from 0 to 1, got -0.1");
  }
  check_error(
      call(zeros({2, 4}), {.ignore_index = 1}),
      "cross_entropy: no row of a target of probabilities can be ignored by number, got ignore_index 1: "
      "take these rows out, or make their probabilities 0");
  check_error(
      call(zeros({2, 4}, f64), {}),
      "cross_entropy: logits and target have different dtypes: f32 [2, 4] and f64 [2, 4]: convert one "
      "with .to()");
  check_error([&] { nll_loss(x, target, {.weight = zeros({3})}); },
              "nll_loss: expects class weights f32 [4], one for each class, got f32 [3]");
  check_error(
      [&] {
        nll_loss(x, zeros({2, 4}));
      },
      "nll_loss: expects an i64 target [2] of class numbers, got f32 [2, 4]: for one-hot rows pass "
      "target.argmax(-1)");
  check_error(
      [&] {
        linear_cross_entropy(x, zeros({5, 4}), target, {.weight = zeros({4})});
      },
      "linear_cross_entropy: expects class weights f32 [5], one for each class, got f32 [4]");
}

TEST_CASE("class weights that change between forward and backward are an error") {
  const Tensor x = leaf(zeros({2, 3})), w = ones({3});
  const Tensor loss = cross_entropy(x, tensor({0, 1}), {.weight = w});
  w.fill_(2);
  CHECK_THROWS_WITH_AS(loss.backward(), doctest::Contains("it saved was changed in place"), Error);
}

}  // namespace
}  // namespace gradus::test
