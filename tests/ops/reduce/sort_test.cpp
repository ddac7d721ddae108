#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::kUndefined;
using gradus::test::Tensors;
using gradus::test::Values;

namespace {

using Places = std::vector<std::int64_t>;

Values values(const std::pair<Tensor, Tensor>& result) { return result.first.to_vector<double>(); }
Places places(const std::pair<Tensor, Tensor>& result) { return result.second.to_vector<std::int64_t>(); }

}  // namespace

TEST_CASE("sort orders along an axis and returns the index of each value") {
  const Tensor x = tensor({{3.0, 1.0, 2.0}, {0.0, 5.0, -1.0}});
  CHECK(values(sort(x)) == Values{1, 2, 3, -1, 0, 5});
  CHECK(places(sort(x)) == Places{1, 2, 0, 2, 0, 1});
  CHECK(values(sort(x, 0, true)) == Values{3, 5, 2, 0, 1, -1});
  CHECK(places(sort(x, 0, true)) == Places{0, 1, 0, 1, 0, 1});
  CHECK(values(sort(transpose(x, 0, 1), 0)) == Values{1, -1, 2, 0, 3, 5});
  CHECK(sort(zeros({2, 0})).first.shape() == Shape{2, 0});
  CHECK(sort(zeros({0, 2})).second.shape() == Shape{0, 2});
  CHECK(sort(tensor({2, 1})).first.dtype() == i64);
  CHECK(sort(tensor({true, false})).first.to_vector<bool>() == std::vector<bool>{false, true});
}

TEST_CASE("sort is stable both ways and puts NaN above every number") {
  const Tensor x = tensor({1.0, NAN, 0.0, 1.0, INFINITY, -0.0, NAN});
  CHECK(places(sort(x)) == Places{2, 5, 0, 3, 4, 1, 6});
  CHECK(places(sort(x, 0, true)) == Places{1, 6, 4, 0, 3, 2, 5});
  CHECK(places(topk(x, 5)) == Places{1, 6, 4, 0, 3});
}

TEST_CASE("topk is the start of a descending sort") {
  Generator generator(3);
  const Tensor x = randint(0, 50, {20, 100}, generator);
  const auto [all, order] = sort(x, -1, true);
  for (const std::int64_t k : {0, 1, 7, 99, 100}) {
    const auto top = topk(x, k);
    CHECK(values(top) == slice(all, 1, 0, k).to_vector<double>());
    CHECK(places(top) == slice(order, 1, 0, k).to_vector<std::int64_t>());
  }
  CHECK(values(topk(tensor({{1.0, 4.0}, {3.0, 2.0}}), 1, 0)) == Values{3, 4});
  CHECK(topk(zeros({0, 3}), 2).first.shape() == Shape{0, 2});
}

TEST_CASE("gradients of sort and topk") {
  // Random numbers from a wide range: none so close that a finite difference would swap two.
  const auto spread = [](const Shape& shape) { return test::Input(shape).between(-1000, 1000); };
  check_op("sort", [](const Tensor& x) { return sort(x).first; }, {spread({3, 7})});
  check_op("sort", [](const Tensor& x) { return sort(x, 0, true).first; }, {spread({6, 2, 3})});
  check_op("sort", [](const Tensor& x) { return sort(x, 1).first; }, {spread({2, 0, 3})});
  check_op("topk", [](const Tensor& x) { return topk(x, 3).first; }, {spread({4, 9})});
  check_op("topk", [](const Tensor& x) { return topk(x, 2, 1).first; }, {spread({2, 5, 3})});
  check_op("topk", [](const Tensor& x) { return topk(x, 1, 0).first; }, {spread({1})});
}

TEST_CASE("writing to the indices does not harm the gradient") {
  Tensor x = tensor({1.0, 3.0, 2.0});
  x.requires_grad_();
  const auto [top, where] = topk(x, 1);
  where.fill_(0);
  top.backward(tensor({5.0}));
  CHECK(x.grad().to_vector<double>() == Values{0, 5, 0});
}

TEST_CASE("sort and topk: errors") {
  const Tensor x = zeros({2, 3});
  check_error([&] { topk(x, 4); }, "topk: expects k from 0 to 3 for axis -1 of [2, 3], got 4");
  check_error([&] { topk(x, -1, 0); }, "topk: expects k from 0 to 2 for axis 0 of [2, 3], got -1");
  check_error([&] { topk(x, 1, 2); }, "topk: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { sort(x, -3); }, "sort: axis -3 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { sort(tensor(1.0)); }, "sort: axis -1 does not exist: the tensor has 0 axes");
  check_error([&] { sort(Tensor()); }, "sort" + kUndefined);
}
