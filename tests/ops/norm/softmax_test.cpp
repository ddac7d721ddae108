#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "isas.h"
#include "values.h"

namespace gradus::test {
namespace {

Op softmax_along(std::int64_t axis) {
  return [axis](const Tensor& x) { return softmax(x, axis); };
}
Op log_softmax_along(std::int64_t axis) {
  return [axis](const Tensor& x) { return log_softmax(x, axis); };
}

TEST_CASE("softmax, log_softmax: gradients, layouts, threads, every axis") {
  for (const Shape& shape : {Shape{1}, {5}, {3, 4}, {2, 3, 4}, {2, 1, 3, 2}, {17, 33}, {2, 0, 3}, {0}})
    for (int axis = -shape.size(); axis < shape.size(); ++axis) {
      check_op("softmax", softmax_along(axis), {shape});
      check_op("log_softmax", log_softmax_along(axis), {shape});
    }
  check_op("softmax", softmax_along(-1), {{300, 130}});
  check_op("log_softmax", log_softmax_along(0), {{300, 130}});
  check_op("softmax", softmax_along(0), {Shape{}});  // one element: always 1
  check_op("log_softmax", log_softmax_along(-1), {Shape{}});
}

TEST_CASE("softmax: by definition, on each axis") {
  manual_seed(0);
  const Tensor x = randn({3, 4, 5}, f64);
  for (const std::int64_t axis : {0, 1, 2, -1, -2}) {
    const Tensor expected = exp(x) / exp(x).sum(axis, true);
    CHECK((softmax(x, axis) - expected).abs().max().item() < 1e-15);
    CHECK((log_softmax(x, axis) - log(expected)).abs().max().item() < 1e-14);
    CHECK(softmax(x, axis).is_contiguous());
  }
}

TEST_CASE("softmax: rows add up to 1, and adding a constant changes nothing") {
  const Tensor x = randn({7, 100});
  CHECK((softmax(x, -1).sum(-1) - 1).abs().max().item() < 1e-6);
  CHECK((softmax(x + 1000, -1) - softmax(x, -1)).abs().max().item() < 1e-5);
}

TEST_CASE("softmax: its Jacobian's rows and columns add up to 0") {
  for (std::int64_t i = 0; i < 6; ++i) {
    Tensor x = randn({6}, f64);
    x.requires_grad_();
    softmax(x, 0)[i].backward();
    CHECK(std::abs(x.grad().sum().item()) < 1e-15);
  }
}

TEST_CASE("softmax: extreme rows") {
  CHECK(softmax(tensor({1e30, -1e30, 1e30}), 0).to_vector<float>() == std::vector<float>{0.5, 0, 0.5});
  CHECK(softmax(tensor({-kInf, 0.0, -kInf}), 0).to_vector<float>() == std::vector<float>{0, 1, 0});
  CHECK(log_softmax(tensor({1e30, 0.0}), 0).to_vector<float>() == std::vector<float>{0, -1e30F});
  for (const float y : softmax(tensor({-kInf, -kInf}), 0).to_vector<float>()) CHECK(std::isnan(y));
  for (const float y : log_softmax(tensor({-kInf, -kInf}), 0).to_vector<float>()) CHECK(std::isnan(y));
  for (const float y : softmax(tensor({NAN, 0.0}), 0).to_vector<float>()) CHECK(std::isnan(y));
  // One bad row does not affect the others.
  const Tensor rows = tensor({{-kInf, -kInf}, {0.0, 0.0}});
  CHECK(softmax(rows, -1)[1].to_vector<float>() == std::vector<float>{0.5, 0.5});
}

TEST_CASE("softmax: a small weight has exp's bits, down to where it is 0, and hidden scores weigh nothing") {
  const Isa before = current_isa();
  for (const Isa isa : kIsas) {
    if (!isa_supported(isa)) continue;
    set_isa(isa);
    CAPTURE(name(isa));
    for (double from = -80; from > -112; from -= 0.19) {
      Tensor row = arange(20).to(f32) * -0.01 + from;  // with the end of a row past a vector's
      row[0] = 0;                                      // all others together are lost in the sum
      row[19] = -HUGE_VAL;
      CHECK(equal(softmax(row, 0).slice(0, 1), exp(row.slice(0, 1))));
      CHECK(softmax(row, 0)[19].item() == 0);
    }
  }
  set_isa(before);
}

TEST_CASE("log_softmax: digits survive large logits") {
  const Tensor x = tensor({30000.0, 30000.5});  // in f32
  CHECK(log_softmax(x, 0)[0].item() == doctest::Approx(-std::log1p(std::exp(0.5))).epsilon(1e-6));
}

TEST_CASE("softmax: errors") {
  check_error(
      [] {
        softmax(zeros({2, 3}), 2);
      },
      "softmax: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error(
      [] {
        softmax(zeros({2, 3}), -3);
      },
      "softmax: axis -3 is out of range for 2 axes: expects -2 to 1");
  check_error(
      [] {
        softmax(zeros({2, 3}, i64), -1);
      },
      "softmax: expects f32 or f64, got i64 [2, 3]: convert with .to(f32)");
  check_error([] { softmax(zeros({}), 1); }, "softmax: axis 1 is out of range for 1 axes: expects -1 to 0");
  check_error([] { softmax(Tensor(), -1); }, "softmax" + kUndefined);
  check_error(
      [] {
        log_softmax(zeros({2, 3}), 2);
      },
      "log_softmax: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error(
      [] {
        log_softmax(zeros({2, 3}) > 0, -1);
      },
      "log_softmax: expects f32 or f64, got bool [2, 3]: convert with .to(f32)");
  check_error([] { log_softmax(Tensor(), 0); }, "log_softmax" + kUndefined);
  Tensor x = zeros({2, 3});
  x.requires_grad_();
  const Tensor y = softmax(x, -1);
  {
    NoGrad guard;
    y.detach().fill_(1);
  }
  check_error([&] { y.sum().backward(); },
              "softmax backward: the f32 [2, 3] it saved was changed in place after the forward pass: change "
              "it before the forward pass or after backward, or work on a clone()");
}

}  // namespace
}  // namespace gradus::test
