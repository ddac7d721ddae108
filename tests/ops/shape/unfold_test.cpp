#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::counting;
using gradus::test::kUndefined;
using gradus::test::leaf;
using gradus::test::Values;

TEST_CASE("unfold gives the windows along an axis as a view") {
  const Tensor x = counting({6});
  CHECK(unfold(x, 0, 3).shape() == Shape{4, 3});
  CHECK(unfold(x, 0, 3).to_vector<double>() == Values{0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5});
  CHECK(unfold(x, 0, 2, 2).to_vector<double>() == Values{0, 1, 2, 3, 4, 5});
  CHECK(unfold(x, 0, 2, 3).to_vector<double>() == Values{0, 1, 3, 4});  // element 5 is in none
  CHECK(unfold(x, 0, 6).shape() == Shape{1, 6});
  CHECK(unfold(x, 0, 1).shape() == Shape{6, 1});
  CHECK(unfold(x, 0, 4, INT64_MAX).to_vector<double>() == Values{0, 1, 2, 3});
  CHECK(unfold(x, 0, 3).array().storage() == x.array().storage());

  const Tensor images = counting({2, 3, 4, 5}), patches = unfold(unfold(images, 2, 3), -2, 2, 2);
  CHECK(patches.shape() == Shape{2, 3, 2, 2, 3, 2});
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t w = 0; w < 2; ++w)
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 2; ++j)
          CHECK(patches.array().at({1, 2, h, w, i, j}) == images.array().at({1, 2, h + i, 2 * w + j}));
  CHECK(unfold(zeros({0, 3}), 1, 2).shape() == Shape{0, 2, 2});
  CHECK(unfold(counting({3, 2}, i64).t(), 1, 2).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, 2, 2, 4, 1, 3, 3, 5});
}

TEST_CASE("an element accumulates the gradients of all windows that contain it") {
  const Tensor x = leaf(zeros({6}));
  unfold(x, 0, 3, 2).backward(tensor({{1.0, 2.0, 4.0}, {8.0, 16.0, 32.0}}));
  CHECK(x.grad().to_vector<double>() == Values{1, 2, 12, 16, 32, 0});
}

TEST_CASE("gradients of unfold") {
  const auto windows = [](std::int64_t axis, std::int64_t size, std::int64_t step) {
    return [=](const Tensor& x) { return unfold(x, axis, size, step); };
  };
  check_op("unfold", windows(0, 3, 1), {{7}});
  check_op("unfold", windows(0, 2, 3), {{7}});
  check_op("unfold", windows(0, 1, 1), {{1}});
  check_op("unfold", windows(1, 3, 2), {{2, 8, 3}});
  check_op("unfold", windows(0, 4, 1), {{5, 2, 3}});
  check_op("unfold", windows(-1, 2, 1), {{2, 3, 4}});
  check_op("unfold", windows(-1, 5, 7), {{300, 200}});
  check_op("unfold", windows(0, 9, 2), {{300, 200}});
  check_op("unfold", windows(0, 9, 1), {{40000}});
  check_op("unfold", windows(1, 2, 1), {{0, 3}});
  check_op("unfold twice", [](const Tensor& x) { return unfold(unfold(x, 2, 3), 3, 2, 2); }, {{2, 3, 5, 6}});
  check_op("average", [](const Tensor& x) { return mean(unfold(x, 1, 3), -1); }, {{3, 6, 2}});
}

TEST_CASE("a convolution is unfold and a product") {
  Generator generator(3);
  const Tensor x = randn({2, 3, 7}, generator, f64), w = randn({4, 3, 5}, generator, f64);
  const Tensor windows = unfold(x, 2, 5).transpose(1, 2);  // [B, T - 4, C, 5]
  const Tensor y = linear(windows.flatten(2), w.flatten(1)).transpose(1, 2);
  CHECK(y.shape() == Shape{2, 4, 3});
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t out = 0; out < 4; ++out)
      for (std::int64_t t = 0; t < 3; ++t)
        CHECK(y.array().at({b, out, t}) ==
              doctest::Approx((x[b].slice(1, t, t + 5) * w[out]).sum().item()).epsilon(1e-12));
  // Layouts no product is made of at once.
  const Tensor overlapping = unfold(x[0][0], 0, 3);
  CHECK(allclose(matmul(overlapping, overlapping.t()), matmul(overlapping.clone(), overlapping.clone().t()),
                 1e-12));
}

TEST_CASE("overlapping windows can be filled with only one value") {
  const Tensor x = zeros({5});
  unfold(x, 0, 2, 2) = tensor({{1.0, 2.0}, {3.0, 4.0}});
  CHECK(x.to_vector<double>() == Values{1, 2, 3, 4, 0});
  unfold(x, 0, 3).fill_(7);
  CHECK(x.to_vector<double>() == Values{7, 7, 7, 7, 7});
  const std::string overlap =
      " has windows that overlap: elements they share would get several values: write into a clone()";
  check_error([&] { unfold(x, 0, 3) = ones({3, 3}); }, "operator=: the target [3, 3]" + overlap);
  check_error([&] { unfold(x, 0, 3).transpose(0, 1).copy_(ones({3})); },
              "copy_: the target [3, 3]" + overlap);
  check_error(
      [&] {
        unfold(x, 0, 2, 2).expand({2, 2, 2}).copy_(ones({2, 1, 1}));
      },
      "copy_: the target [2, 2, 2] is expanded: its elements along axis 0 are one, and would get 2 "
      "values: write into a clone()");
  CHECK(x.to_vector<double>() == Values{7, 7, 7, 7, 7});
}

TEST_CASE("unfold: errors") {
  const Tensor x = zeros({2, 5});
  check_error([&] { unfold(Tensor(), 0, 1); }, "unfold" + kUndefined);
  check_error([&] { unfold(x, 2, 1); }, "unfold: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { unfold(x, 1, 6); },
              "unfold: windows of 6 do not fit into axis 1 of [2, 5]: pad it first");
  check_error([&] { unfold(x, -1, 0); },
              "unfold: windows of 0 do not fit into axis -1 of [2, 5]: pad it first");
  check_error([&] { unfold(x, 1, 2, 0); }, "unfold: expects a step of 1 or more, got 0");
  check_error([&] { unfold(tensor(1.0), 0, 1); }, "unfold: axis 0 does not exist: the tensor has 0 axes");
  check_error(
      [&] {
        unfold(zeros({1, 1, 1, 1, 1, 1, 1, 1}), 0, 1);
      },
      "unfold: [1, 1, 1, 1, 1, 1, 1, 1] has 8 axes, and there is no room for more: flatten() some");
}
