// Label smoothing against the formula in long double, at logits of any size: the loss depends on their
// differences only.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

using I = std::int64_t;

struct Row {
  long double loss = 0;
  std::vector<long double> dx;
};

/// One row's loss and gradient by definition.
template <class T>
Row reference(const T* x, I classes, I target, long double e) {
  long double top = x[0], total = 0, below = 0;
  for (I j = 1; j < classes; ++j) top = std::max(top, static_cast<long double>(x[j]));
  for (I j = 0; j < classes; ++j) {
    total += std::exp(x[j] - top);
    below += (top - x[j]) / static_cast<long double>(classes);
  }
  Row row;
  row.loss = std::log(total) + (e < 1 ? (1 - e) * (top - x[target]) : 0) + (e > 0 ? e * below : 0);
  for (I j = 0; j < classes; ++j)
    row.dx.push_back(std::exp(x[j] - top) / total - (j == target ? 1 - e : 0) -
                     e / static_cast<long double>(classes));
  return row;
}

/// Both ops on the same logits: for linear_cross_entropy they are x I + bias, -inf only in the bias.
template <class T>
void check_loss_of(const Tensor& x, const Tensor& bias, double e) {
  const I rows = x.size(0), classes = x.size(1);
  const Tensor target = randint(0, classes, {rows});
  target.slice(0, 0, 1).fill_(-100);
  const CrossEntropyOptions options{.label_smoothing = e, .reduction = Reduction::sum};
  Tensor logits = bias.defined() ? x + bias : x.clone(), hidden = x.clone();
  logits.requires_grad_();
  hidden.requires_grad_();
  const Tensor loss = cross_entropy(logits, target, options),
               fused = linear_cross_entropy(hidden, eye(classes, classes, x.dtype()), target, options, bias);
  const std::vector<T> values = logits.to_vector<T>();
  long double expected = 0;
  std::vector<long double> dx(static_cast<std::size_t>(classes), 0);
  for (I i = 1; i < rows; ++i) {
    const Row row = reference(values.data() + i * classes, classes, target[i].to_vector<I>()[0], e);
    expected += row.loss;
    dx.insert(dx.end(), row.dx.begin(), row.dx.end());
  }
  const double eps = 20 * static_cast<double>(std::numeric_limits<T>::epsilon());
  loss.backward();
  fused.backward();
  for (const Tensor& l : {loss, fused})
    if (std::isinf(expected))
      CHECK(l.item() == static_cast<double>(expected));
    else
      CHECK(l.item() == doctest::Approx(static_cast<double>(expected)).epsilon(eps));
  for (const Tensor& d : {logits.grad(), hidden.grad()}) {
    const std::vector<T> got = d.to_vector<T>();
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::fabs(static_cast<double>(got[i] - dx[i])));
    CHECK(worst < eps);
  }
}

TEST_CASE_TEMPLATE("label smoothing: exact at any offset of the logits, ignored rows and masked classes", T,
                   float, double) {
  constexpr DType dtype = std::is_same_v<T, float> ? f32 : f64;
  manual_seed(1);
  const double largest = static_cast<double>(std::numeric_limits<T>::max());
  for (const double offset : {0.0, 1e3, 1e6, -1e6, 1e34, -1e34, largest / 4})
    for (const double e : {0.0, 0.1, 1.0}) {
      CAPTURE(offset);
      CAPTURE(e);
      const Tensor x = randn({6, 50}, dtype) + offset;
      check_loss_of<T>(x, Tensor(), e);
      check_loss_of<T>(x * (randn({6, 50}, dtype) * 1e-3 + 1), Tensor(), e);
      Tensor masked = zeros({50}, dtype);
      masked.slice(0, 20, 40).fill_(-std::numeric_limits<double>::infinity());
      check_loss_of<T>(x, masked, e);
    }
}

TEST_CASE("label smoothing: the sum of many large logits does not overflow") {
  manual_seed(2);
  check_loss_of<float>(randn({3, 4000}) + 2e35, Tensor(), 0.1);  // 8e38 together
}

TEST_CASE_TEMPLATE("label smoothing: the loss is right where the distance of two logits exceeds the range", T,
                   float, double) {
  constexpr DType dtype = std::is_same_v<T, float> ? f32 : f64;
  const double most = std::is_same_v<T, float> ? 1.8e38 : 0.95e308;
  for (const double e : {0.1, 0.3})
    check_loss_of<T>(tensor({{1.0, -1.0, 1.0, 0.5}, {1.0, 1.0, -1.0, 1.0}}).to(dtype) * most, Tensor(), e);
}

TEST_CASE("label smoothing: a class with logit -inf makes the loss +inf, with a finite gradient") {
  Tensor x = tensor({1.0, -std::numeric_limits<double>::infinity(), 2.0}, f64);
  x.requires_grad_();
  for (const int target : {0, 1})
    for (const double e : {0.1, 1.0}) {
      const Tensor loss = cross_entropy(x, tensor(target), {.label_smoothing = e});
      CHECK(loss.item() == std::numeric_limits<double>::infinity());
      x.zero_grad();
      loss.backward();
      CHECK(x.grad()[1].item() == doctest::Approx(-(target == 1 ? 1 - e : 0) - e / 3).epsilon(1e-14));
    }
}

}  // namespace
}  // namespace gradus::test
