#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

TEST_CASE("cumsum") {
  for (const Shape& shape :
       {Shape{7}, Shape{0}, Shape{1}, Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 0, 3}, Shape{300, 200}})
    for (const std::int64_t axis : {0, -1})
      check_op("cumsum", [axis](const Tensor& x) { return cumsum(x, axis); }, {shape});
  check_op("cumsum", [](const Tensor& x) { return cumsum(x, 1); }, {{2, 3, 4}});
  check_op("cumsum", [](const Tensor& x) { return cumsum(x, 1); }, {{3, 70, 130}});
}

TEST_CASE("cumsum: values") {
  CHECK(values(cumsum(tensor({1.0, 2.0, 3.0}), 0)) == Values{1, 3, 6});
  CHECK(values(cumsum(tensor({{1, 2}, {3, 4}}), 0)) == Values{1, 2, 4, 6});
  CHECK(values(cumsum(tensor({{1, 2}, {3, 4}}), 1)) == Values{1, 3, 3, 7});
  CHECK(cumsum(tensor({true, false, true}), 0).dtype() == i64);
  CHECK(values(cumsum(tensor({true, false, true}), 0)) == Values{1, 1, 2});
}

TEST_CASE("cumsum: a long f32 sum stays accurate") {
  const std::int64_t n = 1 << 20;
  CHECK(cumsum(full({n}, 0.1), 0)[n - 1].item() ==
        doctest::Approx(static_cast<double>(0.1F) * static_cast<double>(n)).epsilon(1e-7));
}

TEST_CASE("cumsum: errors") {
  const Tensor x = zeros({2, 3}), undefined;
  check_error([&] { cumsum(x, 2); }, "cumsum: axis 2 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { cumsum(x, -3); }, "cumsum: axis -3 is out of range for 2 axes: expects -2 to 1");
  check_error([&] { cumsum(zeros({}), 0); }, "cumsum: axis 0 does not exist: the tensor has 0 axes");
  check_error([&] { cumsum(zeros({1}), 1); }, "cumsum: axis 1 is out of range for 1 axes: expects -1 to 0");
  check_error([&] { cumsum(undefined, 0); }, "cumsum" + kUndefined);
}

}  // namespace
}  // namespace gradus::test
