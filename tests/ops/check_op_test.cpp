// check_op must complain about every kind of broken op; each of these is one.

#include "check_op.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/core/tape/record.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

/// All complaints about an op of one [6, 5] input as one text.
std::string complaints(const Op& op, const std::vector<Input>& inputs = {{6, 5}}) {
  std::string text;
  for (const std::string& problem : op_problems("op", op, inputs)) text += problem + "\n";
  return text;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Array twice(const Array& x, double factor = 2) { return array::mul(x, factor); }

/// x^2 whose backward multiplies by `factor`; on the tape as if by `second`, with the same value.
Tensor square_with(const Tensor& x, double factor, double second) {
  return record("square", array::mul(x.array(), x.array()), {&x},
                [saved = Saved(x.array()), factor, second]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>) {
                    const Tensor in = of.in(0, saved);
                    return {(in * second + in.detach() * (factor - second)) * dy};
                  } else {
                    return {array::mul(twice(*saved, factor), dy)};
                  }
                });
}
Tensor square_with(const Tensor& x, double factor) { return square_with(x, factor, factor); }

TEST_CASE("check_op: a correct op passes") {
  CHECK(complaints([](const Tensor& x) { return square_with(x, 2); }) == "");
  for (const Shape& shape : odd_shapes())
    check_op("square", [](const Tensor& x) { return square_with(x, 2); }, {shape});
}

TEST_CASE("check_op: a wrong factor in backward") {
  const std::string text = complaints([](const Tensor& x) { return square_with(x, 2.0001); });
  CHECK(mentions(text, "op, f64: gradient of input 0 along element 0"));
  CHECK(mentions(text, "but the outputs change by"));
}

TEST_CASE("check_op: a wrong factor shows in a large input too") {
  CHECK(mentions(complaints([](const Tensor& x) { return square_with(x, 2.0001); }, {{200, 300}}),
                 "op, f64, random directions: gradient of input 0"));
}

#ifndef __SANITIZE_THREAD__  // which sees large inputs only
TEST_CASE("check_op: a wrong second derivative, also of a large input") {
  const auto op = [](const Tensor& x) { return square_with(x, 2, 1.999); };
  CHECK(mentions(complaints(op),
                 "op, f64, second derivatives: second derivatives along a direction of input 0"));
  CHECK(mentions(complaints(op, {{200, 300}}), "op, f64, second derivatives: second derivatives along"));
}

TEST_CASE("check_op: a derivative by the incoming gradient that is wrong") {
  const auto op = [](const Tensor& x) {
    return record("triple", twice(x.array(), 3), {&x}, []<class V>(const V& dy, auto) -> GradsOf<V> {
      if constexpr (kTaped<V>)
        return {dy * 2.9 + dy.detach() * 0.1};
      else
        return {twice(dy, 3)};
    });
  };
  CHECK(mentions(complaints(op), "along a direction of the incoming gradient, not by"));
}

TEST_CASE("check_op: a backward for Tensors with other values") {
  const auto op = [](const Tensor& x) {
    return record("triple", twice(x.array(), 3), {&x}, []<class V>(const V& dy, auto) -> GradsOf<V> {
      if constexpr (kTaped<V>)
        return {dy * 3.001};
      else
        return {twice(dy, 3)};
    });
  };
  CHECK(mentions(complaints(op), "op, f64, second derivatives: create_graph: gradient of input 0"));
}

TEST_CASE("check_op: a second derivative that is wrong if the other input wants no gradient") {
  const auto op = [](const Tensor& a, const Tensor& b) {
    return record("mul", array::mul(a.array(), b.array()), {&a, &b},
                  [a = Saved(a.array()), b = Saved(b.array())]<class V>(const V& dy, auto of) -> GradsOf<V> {
                    if constexpr (kTaped<V>) {
                      const double wrong = of[0] && of[1] ? 1 : 2;
                      return {dy * of.in(1, b) * wrong, dy * of.in(0, a) * wrong};
                    } else {
                      return {array::mul(dy, *b), array::mul(dy, *a)};
                    }
                  });
  };
  std::string text;  // it is one input at random that wants a gradient alone, or none
  for (std::uint64_t seed = 0; seed < 16; ++seed)
    for (const std::string& problem : op_problems("op", op, {{2, 3}, {2, 3}}, {.seed = seed}))
      text += problem;
  CHECK(
      mentions(text, "second derivatives, only input 0 wants a gradient: create_graph: gradient of input 0"));
  CHECK(
      mentions(text, "second derivatives, only input 1 wants a gradient: create_graph: gradient of input 1"));
}

TEST_CASE("check_op: no second derivatives") {
  const auto op = [](const Tensor& x) {
    return record("triple", twice(x.array(), 3), {&x},
                  [](const Array& dy, Needs) -> Grads { return {twice(dy, 3)}; });
  };
  CHECK(complaints(op) ==
        "op, f64, second derivatives: grad: triple [6, 5] has no second derivative, which create_graph "
        "needs: its "
        "backward is written for Arrays alone, or returns no GradsOf<V>; state it for Tensors too, as "
        "core/tape/record.h shows\n");
  CHECK(op_problems("op", op, {{6, 5}}, {.no_second_derivatives = "to test the option"}).empty());
}
#endif

TEST_CASE("check_op: gradients that do not depend on the inputs, or that no input gets") {
  check_op("steps",
           [](const Tensor& x) {
             return record("steps", Array::zeros(x.shape(), x.dtype()), {&x},
                           []<class V>(const V& dy, auto) -> GradsOf<V> {
                             if constexpr (kTaped<V>)
                               return {Tensor(Array::zeros(dy.shape(), dy.dtype()))};
                             else
                               return {Array::zeros(dy.shape(), dy.dtype())};
                           });
           },
           {{6, 5}});
  check_op("triple", [](const Tensor& x) { return x * 3; }, {{6, 5}});
  check_op("constant", [](const Tensor& x) { return x.detach() * 0; }, {{6, 5}});
}

TEST_CASE("check_op: no gradient at all") {
  const auto op = [](const Tensor& x) {
    return record("square", array::mul(x.array(), x.array()), {&x},
                  [](const Array&, Needs) -> Grads { return {Array()}; });
  };
  CHECK(mentions(complaints(op), "gradient of input 0"));
}

/// The mistake of reading x as if it were contiguous (where that stays inside its memory).
Array ignoring_strides(const Array& x) {
  const std::int64_t end = x.offset() + x.numel();
  if (static_cast<std::size_t>(end) * size_of(x.dtype()) > x.storage().bytes()) return x;
  return x.as_strided(x.shape(), contiguous_strides(x.shape()), x.offset());
}

TEST_CASE("check_op: a forward that ignores strides") {
  const auto op = [](const Tensor& x) {
    return record("copy", ignoring_strides(x.array()).clone(), {&x},
                  [](const Array& dy, Needs) -> Grads { return {dy}; });
  };
  CHECK(mentions(complaints(op), "transposed against contiguous: output 0"));
}

TEST_CASE("check_op: a backward that takes dy to be contiguous") {
  const auto op = [](const Tensor& x) {
    return record("copy", x.array().clone(), {&x},
                  [](const Array& dy, Needs) -> Grads { return {ignoring_strides(dy)}; });
  };
  CHECK(mentions(complaints(op), "transposed against contiguous: gradient of input 0"));
}

TEST_CASE("check_op: a value that depends on the number of threads") {
  const auto op = [](const Tensor& x) {
    return Tensor(array::add(x.array(), array::scalar(1e-3 * num_threads(), x.dtype())));
  };
  CHECK(mentions(complaints(op, {Input({6, 5}).constant()}), "f32, 2 threads against 1: output 0"));
}

TEST_CASE("check_op: f32 computed less precisely than it should be") {
  const auto op = [](const Tensor& x) {
    return Tensor(x.dtype() == f32 ? array::mul(x.array(), 1.001) : x.array().clone());
  };
  CHECK(mentions(complaints(op, {Input({6, 5}).constant()}), "f32, scalar: output 0"));
}

TEST_CASE("check_op: an op that writes its input") {
  const auto op = [](const Tensor& x) {
    const NoGrad guard;
    x.fill_(123);
    return Tensor(x.array().clone());
  };
  CHECK(mentions(complaints(op), "input 0 was written"));
}

TEST_CASE("check_op: a backward that writes the incoming gradient") {
  const auto op = [](const Tensor& x) {
    return record("copy", x.array().clone(), {&x}, [](const Array& dy, Needs) -> Grads {
      const Array dx = dy.clone();
      dy.fill_(0);
      return {dx};
    });
  };
  CHECK(mentions(complaints(op), "backward wrote into the incoming gradient"));
}

TEST_CASE("check_op: a saved array that backward consumes") {
  const auto op = [](const Tensor& x) {
    return record("square", array::mul(x.array(), x.array()), {&x},
                  [x2 = twice(x.array())](const Array& dy, Needs) -> Grads {
                    const Array dx = array::mul(x2, dy);
                    x2.fill_(0);
                    return {dx};
                  });
  };
  CHECK(mentions(complaints(op), "two backward passes"));
}

TEST_CASE("check_op: a product that drops a gradient when the other input wants none") {
  const auto op = [](const Tensor& a, const Tensor& b) {
    return record("mul", array::mul(a.array(), b.array()), {&a, &b},
                  [a = Saved(a.array()), b = Saved(b.array())](const Array& dy, Needs needs) -> Grads {
                    if (!needs[0]) return {Array(), Array()};
                    return {array::mul(dy, *b), array::mul(dy, *a)};
                  });
  };
  CHECK(mentions(complaints(op, {{2, 3}, {2, 3}}), "only input 1 wants a gradient: gradient of input 1"));
}

TEST_CASE("check_op: leaked nodes and bytes") {
  static std::vector<Tensor> hoard;
  const auto op = [](const Tensor& x) {
    hoard.push_back(square_with(x, 2));
    return hoard.back();
  };
  CHECK(mentions(complaints(op), "nodes leaked"));
  hoard.clear();
  static std::vector<Array> arrays;
  const auto copies = [](const Tensor& x) {
    arrays.push_back(x.array().clone());
    return Tensor(arrays.back());
  };
  CHECK(mentions(complaints(copies, {Input({6, 5}).constant()}), "bytes leaked"));
  arrays.clear();
}

TEST_CASE("check_op: avoids kinks") {
  const auto op = [](const Tensor& x) {
    for (const double v : x.to_vector<double>())
      if (std::abs(v) < 0.049) throw Error("too close to 0");
    return Tensor(x.array().clone());
  };
  CHECK(op_problems("copy", op, {Input({30}).constant()}, {.kinks = {0}}).empty());
}

}  // namespace
}  // namespace gradus::test
