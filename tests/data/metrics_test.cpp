#include "gradus/data/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/batches.h"

namespace gradus::test {
namespace {

using data::accuracy;
using data::confusion_matrix;

TEST_CASE("accuracy: of logits, classes and bools") {
  const Tensor logits = tensor({{1.0, 3.0, 2.0}, {5.0, 0.0, 5.0}, {0.0, 1.0, 2.0}, {0.0, 1.0, 0.0}});
  CHECK(accuracy(logits, tensor({1, 0, 2, 2})) == 0.75);
  CHECK(accuracy(logits.to(f64).reshape({2, 2, 3}), tensor({{1, 2}, {0, 1}})) == 0.5);
  CHECK(accuracy(tensor({1, 2, 3}), tensor({1, 0, 3})) == 2.0 / 3);
  CHECK(accuracy(logits.select(1, 0) > 0, tensor({1, 0, 0, 0})) == 0.75);
  CHECK(accuracy(logits.select(1, 0) > 0, tensor({true, true, false, true})) == 0.75);
  CHECK(accuracy(tensor({1.0, 2.0}), tensor(1)) == 1);
  CHECK(accuracy(logits.clone().requires_grad_(), tensor({1, 0, 2, 2})) == 0.75);
}

TEST_CASE("accuracy: ignored targets") {
  const Tensor logits = tensor({{1.0, 0.0}, {1.0, 0.0}, {1.0, 0.0}});
  CHECK(accuracy(logits, tensor({0, -100, 1})) == 0.5);
  CHECK(accuracy(logits, tensor({0, 5, 0}), {.ignore_index = 5}) == 1);
  CHECK(accuracy(tensor({7, 7}), tensor({-100, 7}), {.ignore_index = {}}) == 0.5);
  CHECK(std::isnan(accuracy(logits, tensor({-100, -100, -100}))));
  CHECK(std::isnan(accuracy(ones({0, 3}), zeros({0}, i64))));
  CHECK(std::isnan(accuracy(ones({0, 0}), zeros({0}, i64))));
}

TEST_CASE("accuracy: errors") {
  const Tensor logits = ones({3, 2}), targets = zeros({3}, i64);
  const auto said = [](const Tensor& p, const Tensor& t) { return message_of([&] { accuracy(p, t); }); };
  CHECK(contains(said(ones({3}), targets), "for one logit each pass `logits > 0`, for classes i64"));
  CHECK(contains(said(logits, zeros({3})),
                 "accuracy: expects targets i64 or bool, got f32 [3]: convert with .to(i64)"));
  CHECK(contains(said(logits, ones({3, 2})), "if they are probabilities, take the .argmax(-1)"));
  CHECK(contains(said(logits, zeros({2}, i64)),
                 "expects logits [..., C] or classes [...] for targets [...], got f32 [3, 2] and [2]"));
  CHECK(contains(said(zeros({3, 2}, i64), targets), "got i64 [3, 2] and [3]"));
  CHECK(contains(said(tensor(1.0), zeros({1}, i64)), "got f32 [] and [1]"));
  CHECK(contains(said(logits, tensor({0, 2, 1})), "accuracy: target 2 at 1 is not one of the 2 classes"));
  CHECK(contains(said(logits, tensor({0, -1, 1})), "target -1 at 1"));
  CHECK(contains(said({}, targets), "accuracy: predicted is undefined"));
  CHECK(contains(said(logits, {}), "accuracy: targets is undefined"));
  CHECK(contains(said(ones({3, 0}), targets), "argmax"));
  CHECK(contains(said(ones({3, 1}), targets),
                 "accuracy: predicted f32 [3, 1] has one class, which would always be right: for one logit "
                 "each pass `logits.squeeze(-1) > 0`"));
}

TEST_CASE("confusion_matrix: rows are targets, columns predictions") {
  // sklearn.metrics.confusion_matrix([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
  const Tensor expected = tensor({{2, 0, 0}, {0, 0, 1}, {1, 0, 2}});
  const Tensor predicted = tensor({0, 0, 2, 2, 0, 2}), truth = tensor({2, 0, 2, 2, 0, 1});
  CHECK(equal(confusion_matrix(predicted, truth, 3), expected));
  CHECK(equal(confusion_matrix(one_hot(predicted, 3).to(f32), truth, 3), expected));
  CHECK(equal(confusion_matrix(predicted == 2, truth == 2, 2), tensor({{2, 1}, {1, 2}})));
  CHECK(equal(confusion_matrix(predicted, truth, 3, {.ignore_index = 2}),
              tensor({{2, 0, 0}, {0, 0, 1}, {0, 0, 0}})));
  CHECK(equal(confusion_matrix(zeros({0}, i64), zeros({0}, i64), 2), zeros({2, 2}, i64)));
}

TEST_CASE("confusion_matrix: errors") {
  const Tensor ids = tensor({0, 1, 2});
  const auto said = [&](const Tensor& p, const Tensor& t, std::int64_t classes) {
    return message_of([&] { confusion_matrix(p, t, classes); });
  };
  CHECK(contains(said(ids, ids, 2), "confusion_matrix: predicted 2 for target 2: expects classes 0 to 1"));
  CHECK(contains(said(ids - 1, ids, 3), "predicted -1 for target 0"));
  CHECK(contains(said(ids, ids - 1, 3), "predicted 0 for target -1: expects classes 0 to 2"));
  CHECK(contains(said(ids, ids + 1, 3), "predicted 2 for target 3: expects classes 0 to 2"));
  CHECK(contains(said(ids, ids, 0), "expects 1 class or more, got 0"));
  CHECK(contains(said(ones({3, 4}), ids, 3), "expects logits of 3 classes, got [3, 4]"));
  CHECK(contains(said(ids, ids, std::int64_t{1} << 40), "confusion_matrix"));
}

}  // namespace
}  // namespace gradus::test
