#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/autograd.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/ops.h"
#include "poison_guard.h"
#include "threads_guard.h"
#include "values.h"

namespace gradus::test {
namespace {

Op head_with(const Tensor& target, const CrossEntropyOptions& options = {}) {
  return [=](const Tensors& x) {
    return linear_cross_entropy(x[0], x[1], target, options, x.size() > 2 ? x[2] : Tensor());
  };
}

double distance(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item(); }

/// The op against cross_entropy(linear(...)): loss and all gradients, scaled by a factor.
void check_against_ops(const Shape& rows, std::int64_t classes, std::int64_t channels,
                       const CrossEntropyOptions& options, double tolerance, DType dtype) {
  CAPTURE(rows);
  CAPTURE(classes);
  Shape shape = rows;
  shape.push_back(channels);
  const Tensor x = leaf(randn(shape, dtype)), w = leaf(randn({classes, channels}, dtype) * 0.3),
               b = leaf(randn({classes}, dtype));
  const Tensor target = where(rand(rows) < 0.2, full(rows, static_cast<double>(*options.ignore_index), i64),
                              randint(0, classes, rows));
  const Tensor loss = linear_cross_entropy(x, w, target, options, b);
  (loss * 3).backward();
  const Tensor dx = x.grad(), dw = w.grad(), db = b.grad();
  for (const Tensor& p : {x, w, b}) p.zero_grad();
  const Tensor expected = cross_entropy(linear(x, w, b), target, options);
  (expected * 3).backward();
  CHECK(std::fabs(loss.item() - expected.item()) <= tolerance * (1 + std::fabs(expected.item())));
  CHECK(distance(dx, x.grad()) <= tolerance);
  CHECK(distance(dw, w.grad()) <= tolerance);
  CHECK(distance(db, b.grad()) <= tolerance);
}

TEST_CASE("linear_cross_entropy: gradients, layouts, threads") {
  manual_seed(0);
  const CheckOptions products{.layout_bits = false};
  for (const Shape& rows : {Shape{}, {1}, {4}, {2, 3}, {0}, {2, 0}, {70}})
    for (const std::int64_t classes : {2, 5, 33})
      for (const CrossEntropyOptions& options :
           {CrossEntropyOptions{}, {.label_smoothing = 0.3}, {.reduction = Reduction::sum}}) {
        Shape shape = rows;
        shape.push_back(7);
        const Op op = head_with(randint(0, classes, rows), options);
        check_op("linear_cross_entropy", op, {shape, {classes, 7}}, products);
        check_op("linear_cross_entropy", op, {shape, {classes, 7}, {classes}}, products);
      }
  const Tensor ignoring = tensor({{1, -100, 0}, {-100, 3, 2}});
  check_op("linear_cross_entropy", head_with(ignoring, {.label_smoothing = 0.1}), {{2, 3, 5}, {4, 5}, {4}},
           products);
}

TEST_CASE("linear_cross_entropy: equals cross_entropy of linear, in one chunk of rows or several") {
  manual_seed(1);
  for (const CrossEntropyOptions& options : {CrossEntropyOptions{},
                                             {.label_smoothing = 0.1},
                                             {.reduction = Reduction::sum},
                                             {.ignore_index = 0, .label_smoothing = 1}})
    check_against_ops({3, 11}, 65, 16, options, 1e-13, f64);
  check_against_ops({900}, 20000, 3, {}, 1e-4, f32);  // two chunks of 450 rows; dz W in five pieces
  const PoisonGuard poison(true);                     // what is added but was never written is NaN
  for (const std::int64_t classes : {4096, 4097, 8191, 8192, 8193})
    check_against_ops({5}, classes, 3, {}, 1e-4, f32);  // dz W in one to three pieces
}

TEST_CASE("linear_cross_entropy: the same bits with any number of threads") {
  manual_seed(2);
  const Tensor x = leaf(randn({900, 3})), w = leaf(randn({20000, 3})), target = randint(0, 20000, {900});
  Tensor loss, dx, dw;
  for (const int threads : {1, 2, 3, 4, 8}) {
    const ThreadsGuard guard(threads);
    x.zero_grad();
    w.zero_grad();
    const Tensor y = linear_cross_entropy(x, w, target);
    y.backward();
    if (!loss.defined()) {
      loss = y;
      dx = x.grad();
      dw = w.grad();
    }
    CHECK(y.item() == loss.item());
    CHECK((x.grad() == dx).all());
    CHECK((w.grad() == dw).all());
  }
}

TEST_CASE("linear_cross_entropy: without a tape the same loss, and no gradient for frozen tensors") {
  manual_seed(3);
  const Tensor x = leaf(randn({9, 4})), w = leaf(randn({6, 4})), target = randint(0, 6, {9});
  const double loss = linear_cross_entropy(x, w, target).item();
  {
    const NoGrad guard;
    const Tensor y = linear_cross_entropy(x, w, target);
    CHECK(y.item() == loss);
    CHECK(!y.requires_grad());
  }
  const Tensor frozen = w.detach();
  linear_cross_entropy(x, frozen, target).backward();
  CHECK(!frozen.grad().defined());
  const Tensor dx = x.grad();
  x.zero_grad();
  linear_cross_entropy(x, w, target).backward();
  CHECK(distance(dx, x.grad()) == 0);
}

TEST_CASE("linear_cross_entropy: backward twice gives the same, even if the first gradients were changed") {
  manual_seed(4);
  const Tensor x = leaf(randn({9, 4})), w = leaf(randn({6, 4})), b = leaf(randn({6})),
               target = randint(0, 6, {9});
  const Tensor loss = linear_cross_entropy(x, w, target, {}, b);
  loss.backward(/*retain_graph=*/true);
  std::vector<Tensor> first;
  for (const Tensor& p : {x, w, b}) first.push_back(p.grad().clone());
  for (const Tensor& p : {x, w, b}) p.grad().fill_(1e6);
  for (const Tensor& p : {x, w, b}) p.zero_grad();
  loss.backward(/*retain_graph=*/true);
  CHECK(distance(first[0], x.grad()) == 0);
  CHECK(distance(first[1], w.grad()) == 0);
  CHECK(distance(first[2], b.grad()) == 0);
  loss.backward();
  CHECK(distance(first[1] * 2, w.grad()) == 0);
}

TEST_CASE("linear_cross_entropy: a weight that is also used elsewhere accumulates both gradients") {
  manual_seed(5);
  const Tensor w = leaf(randn({6, 4}, f64)), ids = randint(0, 6, {9}), target = randint(0, 6, {9});
  linear_cross_entropy(embedding(ids, w), w, target).backward();
  const Tensor dw = w.grad();
  w.zero_grad();
  cross_entropy(linear(embedding(ids, w), w), target).backward();
  CHECK(distance(dw, w.grad()) < 1e-15);
}

TEST_CASE("linear_cross_entropy: memory holds one chunk of logits, and one gradient of the weight") {
  const std::int64_t rows = 2000, classes = 40000, channels = 8;  // logits 320 MB, a chunk at most 32 MiB
  const Tensor x = leaf(zeros({rows, channels})), w = leaf(zeros({classes, channels}));
  const Tensor target = zeros({rows}, i64);
  empty_cache();
  reset_peak_memory();
  const std::int64_t before = memory_stats().live_bytes;
  linear_cross_entropy(x, w, target).backward();
  CHECK(memory_stats().peak_bytes - before < 80'000'000);

  const Tensor small = leaf(zeros({4, 64})), large = leaf(zeros({60000, 64}));  // 15 MB
  reset_peak_memory();
  const std::int64_t held = memory_stats().live_bytes;
  linear_cross_entropy(small, large, zeros({4}, i64)).backward();
  CHECK(memory_stats().peak_bytes - held < 22'000'000);
}

TEST_CASE("linear_cross_entropy: ignored rows have gradient exactly 0; when all are, so is the loss") {
  for (const double bad : {-kInf, kInf, static_cast<double>(NAN), 1.0}) {
    const Tensor x = leaf(ones({2, 1})), w = leaf(ones({3, 1}));
    const Tensor b = leaf(tensor({bad, 0.0, 0.0}));
    const Tensor loss = linear_cross_entropy(x, w, tensor({-100, -100}), {}, b);
    CHECK(loss.item() == 0);
    loss.backward();
    CHECK((x.grad() == 0).all());
    CHECK((w.grad() == 0).all());
    CHECK((b.grad() == 0).all());
  }
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    const Tensor w = leaf(ones({3, 4}));
    const Tensor loss = linear_cross_entropy(zeros({0, 4}), w, zeros({0}, i64), {.reduction = reduction});
    CHECK(loss.item() == 0);
    loss.backward();
    CHECK((w.grad() == 0).all());
  }
}

TEST_CASE("linear_cross_entropy: extreme logits") {
  const auto loss = [](const Tensor& logits, std::int64_t target) {
    return linear_cross_entropy(ones({1, 1}), logits.unsqueeze(1), tensor({target})).item();
  };
  CHECK(loss(tensor({1e30, -1e30}), 0) == 0);
  CHECK(loss(tensor({10000.0, 10000.0}), 0) == doctest::Approx(std::log(2)).epsilon(1e-6));
  CHECK(loss(tensor({0.0, -kInf}), 0) == 0);
  CHECK(loss(tensor({0.0, -kInf}), 1) == kInf);
  CHECK(std::isnan(loss(tensor({-kInf, -kInf}), 0)));
}

TEST_CASE("linear_cross_entropy: errors") {
  const auto call = [](const Tensor& x, const Tensor& w, const Tensor& target,
                       const CrossEntropyOptions& options = {}, const Tensor& bias = {}) {
    return [=] { linear_cross_entropy(x, w, target, options, bias); };
  };
  const Tensor x = zeros({8, 4}), w = zeros({10, 4}), t = zeros({8}, i64);
  check_error(call(Tensor(), w, t), "linear_cross_entropy" + kUndefined);
  check_error(call(x, Tensor(), t), "linear_cross_entropy" + kUndefined);
  check_error(call(x, w, Tensor()),
              "linear_cross_entropy: the target is undefined: assign it first; a grad() is undefined before "
              "backward");
  check_error(call(zeros({8, 4}, i64), w, t),
              "linear_cross_entropy: expects x of f32 or f64, got i64 [8, 4]: convert with .to(f32)");
  check_error(call(x, zeros({4}), t), "linear_cross_entropy: expects a weight [out, in], got [4]");
  check_error(call(x, zeros({10, 5}), t),
              "linear_cross_entropy: x [8, 4] and weight [10, 5] do not match: x's last axis must be 5, the "
              "weight's second");
  check_error(call(x, zeros({10, 4}, f64), t),
              "linear_cross_entropy: operands have different dtypes: f32 [8, 4] and f64 [10, 4]: convert one "
              "with .to()");
  check_error(call(x, w, t, {}, zeros({9})),
              "linear_cross_entropy: expects a bias [10] for weight [10, 4], got [9]");
  check_error(call(x, w, zeros({9}, i64)),
              "linear_cross_entropy: logits x weight^T [8, 10] and target [9] do not match: expects a target "
              "[8] (classes are the last axis)");
  check_error(call(x, w, zeros({8})),
              "linear_cross_entropy: expects an i64 target [8] of class numbers, got f32 [8]: convert with "
              ".to(i64)");
  check_error(call(zeros({2, 4}), w, tensor({3, 10})),
              "linear_cross_entropy: target 10 of row 1 is out of range: logits x weight^T [2, 10] have 10 "
              "classes");
  check_error(call(x, w, t, {.label_smoothing = -0.5}),
              "linear_cross_entropy: expects label_smoothing from 0 to 1, got -0.5");
  check_error(call(x, w, t, {.reduction = Reduction::none}),
              "linear_cross_entropy: expects reduction mean or sum, got none: use "
              "cross_entropy(linear(x, weight), target)");
}

}  // namespace
}  // namespace gradus::test
