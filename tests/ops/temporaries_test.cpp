// + - * / write their result over a temporary operand: the same bits as with named tensors, and only where
// nobody else can notice.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

struct BinaryOp {
  const char* name;
  std::function<Tensor(Operand, Operand)> f;
};

const std::vector<BinaryOp>& binary_ops() {
  static const std::vector<BinaryOp> ops = {
      {"add", [](Operand a, Operand b) { return a + b; }},
      {"sub", [](Operand a, Operand b) { return a - b; }},
      {"mul", [](Operand a, Operand b) { return a * b; }},
      {"div", [](Operand a, Operand b) { return a / b; }},
  };
  return ops;
}

struct NumberOp {
  const char* name;
  std::function<Tensor(Operand)> f;
};

const std::vector<NumberOp>& number_ops() {
  static const std::vector<NumberOp> ops = {
      {"a + 1.5", [](Operand a) { return a + 1.5; }}, {"1.5 + a", [](Operand a) { return 1.5 + a; }},
      {"a - 1.5", [](Operand a) { return a - 1.5; }}, {"1.5 - a", [](Operand a) { return 1.5 - a; }},
      {"a * 1.5", [](Operand a) { return a * 1.5; }}, {"1.5 * a", [](Operand a) { return 1.5 * a; }},
      {"a / 1.5", [](Operand a) { return a / 1.5; }}, {"1.5 / a", [](Operand a) { return 1.5 / a; }},
  };
  return ops;
}

/// Random numbers away from 0; the same for the same seed.
Tensor numbers(const Shape& shape, DType dtype, std::uint64_t seed) {
  Generator generator(seed);
  if (dtype == i64) return randint(1, 100, shape, generator);
  return (rand(shape, generator, f64) + 0.5).to(dtype);
}

Tensor leaf(const Shape& shape, bool wanted = true) { return numbers(shape, f32, 7).requires_grad_(wanted); }

/// A temporary in the middle of the tape (of no tape, for a constant); nobody else holds its memory.
Tensor passing(const Tensor& x) { return clone(x); }

void check_same(const Tensor& a, const Tensor& b) {
  REQUIRE(a.defined() == b.defined());
  if (!a.defined()) return;
  REQUIRE(a.shape() == b.shape());
  REQUIRE(a.dtype() == b.dtype());
  CHECK(a.strides() == b.strides());
  CHECK(std::memcmp(a.array().raw(), b.array().raw(),
                    static_cast<std::size_t>(a.numel()) * size_of(a.dtype())) == 0);
}

/// Moves t into f and says whether f's result has its memory. If so t is undefined, else as it was.
template <class F>
bool taken(Tensor& t, F f) {
  const void* const memory = t.array().raw();
  const Array before = t.array().clone();
  const Tensor y = f(std::move(t));
  const bool reused = y.array().raw() == memory;
  CHECK(t.defined() == !reused);
  if (t.defined()) check_same(t.clone(), Tensor(before));
  return reused;
}

/// The same for a tensor made for it.
template <class F>
bool takes(Tensor t, F f) {
  return taken(t, f);
}

/// A view of a tensor that is gone: it holds the memory alone.
Tensor lone_view(const Shape& shape, const std::function<Tensor(const Tensor&)>& f) {
  const Tensor x = numbers(shape, f32, 1);
  return f(x);
}

std::int64_t allocations(const std::function<Tensor()>& run) {
  const std::int64_t before = memory_stats().total_allocations;
  const Tensor y = run();
  return memory_stats().total_allocations - before;
}

/// y and the gradients of the leaves p and q, with the operands named or moved.
std::vector<Tensor> outcome(const BinaryOp& op, Tensor p, Tensor q, bool move_a, bool move_b) {
  Tensor a = passing(p), b = passing(q);
  const Tensor y =
      op.f(move_a ? Operand(std::move(a)) : Operand(a), move_b ? Operand(std::move(b)) : Operand(b));
  if (!y.requires_grad()) return {y};
  y.backward(numbers(y.shape(), y.dtype(), 3));
  return {y, p.grad(), q.grad()};
}

TEST_CASE("temporaries: the same bits as with named operands") {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{}, {}},         {{3, 5}, {3, 5}},       {{3, 5}, {5}},      {{5}, {3, 5}},
      {{3, 1}, {1, 5}}, {{0, 3}, {1, 3}},       {{1, 4}, {1, 4}},   {{2, 3, 4}, {3, 1}},
      {{300, 3}, {3}},  {{300, 200}, {300, 1}}, {{200}, {300, 200}}};
  for (const BinaryOp& op : binary_ops())
    for (const std::pair<Shape, Shape>& pair : shapes)
      for (const DType dtype : {f32, f64, i64})
        for (int wanted = 0; wanted < (dtype == i64 ? 1 : 4); ++wanted) {
          CAPTURE(op.name);
          CAPTURE(to_string(pair.first));
          CAPTURE(to_string(pair.second));
          CAPTURE(wanted);
          const auto run = [&](bool move_a, bool move_b) {
            Tensor p = numbers(pair.first, dtype, 1), q = numbers(pair.second, dtype, 2);
            if (wanted & 1) p.requires_grad_();
            if (wanted & 2) q.requires_grad_();
            return outcome(op, p, q, move_a, move_b);
          };
          const std::vector<Tensor> expected = run(false, false);
          for (int moved = 1; moved < 4; ++moved) {
            const std::vector<Tensor> got = run(moved & 1, moved & 2);
            REQUIRE(got.size() == expected.size());
            for (std::size_t i = 0; i < got.size(); ++i) check_same(got[i], expected[i]);
          }
        }
}

TEST_CASE("temporaries: the same bits with a number") {
  for (const NumberOp& op : number_ops())
    for (const Shape& shape : {Shape{}, Shape{3, 5}, Shape{0}, Shape{300, 200}}) {
      CAPTURE(op.name);
      Tensor p = leaf(shape), q = leaf(shape);
      const Tensor a = passing(p), y = op.f(a), z = op.f(passing(q));
      check_same(z, y);
      y.backward(numbers(shape, f32, 3));
      z.backward(numbers(shape, f32, 3));
      check_same(q.grad(), p.grad());
    }
}

TEST_CASE("temporaries: gradients through chains") {
  const auto chain = [](const Tensor& x, const Tensor& y) {
    const Tensor a = (exp(x) + y * 2.0) * (x - y) / (square(y) + 3.0);
    return (1.0 - tanh(a)) * (2.0 / (y + 3.0)) - (x * 0.5 - exp(y) * x) / (exp(x) + 1.0);
  };
  for (const auto& [x, y] :
       {std::pair{Shape{3, 4}, Shape{3, 4}}, {Shape{2, 3}, Shape{3}}, {Shape{150, 200}, {1}}})
    check_op("chain", chain, {Input(x).between(-1, 1), Input(y).between(-1, 1)});
}

TEST_CASE("temporaries: a chain needs the memory of its first result only") {
  const Tensor a = numbers({4, 6}, f32, 1), b = numbers({4, 6}, f32, 2), row = numbers({6}, f32, 3);
  CHECK(allocations([&] { return a + b; }) == 1);
  CHECK(allocations([&] { return ((a + b) * 2.0 - row) / a; }) == 1);
  CHECK(allocations([&] { return 1.0 / (3.0 - row * (a * b)); }) == 1);
  CHECK(allocations([&] { return (a + b) * (a - b); }) == 2);
  // A view holds what it views: that is left alone, but the copies both need for their layout serve once
  // more.
  CHECK(allocations([&] { return a.transpose(0, 1) + (b + b).transpose(0, 1); }) == 3);
  // An operand that must be copied for its layout does not stand in the way.
  CHECK(allocations([&] {
          return (a + b) + numbers({6, 4}, f32, 4).transpose(0, 1);
        }) == allocations([&] {
                return numbers({6, 4}, f32, 4);
              }) + 2);
}

TEST_CASE("temporaries: without a tape each op takes over either operand") {
  const Tensor other = numbers({3, 4}, f32, 2);
  const Tensor weight = leaf({3, 4});
  for (const BinaryOp& op : binary_ops()) {
    CAPTURE(op.name);
    CHECK(takes(numbers({3, 4}, f64, 1), [&](Operand t) { return op.f(t, numbers({4}, f64, 2)); }));
    CHECK(takes(numbers({3, 4}, f32, 1), [&](Operand t) { return op.f(t, other); }));
    CHECK(takes(numbers({3, 4}, f32, 1), [&](Operand t) { return op.f(other, t); }));
    CHECK(takes(numbers({0, 4}, f32, 1), [&](Operand t) { return op.f(t, other.slice(0, 0, 0)); }));
    const NoGrad guard;
    CHECK(takes(passing(weight), [&](Operand t) { return op.f(t, weight); }));
    CHECK(takes(passing(weight), [&](Operand t) { return op.f(weight, t); }));
    CHECK(takes(exp(weight), [&](Operand t) { return op.f(t, weight); }));  // nothing was saved
  }
  for (const NumberOp& op : number_ops()) {
    CAPTURE(op.name);
    CHECK(takes(numbers({3, 4}, f32, 1), op.f));
    const NoGrad guard;
    CHECK(takes(passing(weight), op.f));
  }
  CHECK(takes(numbers({3}, i64, 1), [](Operand t) { return t * numbers({3}, i64, 2); }));
  CHECK(takes(numbers({3}, i64, 1), [](Operand t) { return 2.0 - t; }));
}

TEST_CASE("temporaries: with a tape an op spares what it saves") {
  const Tensor w = leaf({3, 4}), constant = numbers({3, 4}, f32, 2);
  const auto first = [&](const BinaryOp& op, const Tensor& from, const Tensor& other) {
    return takes(passing(from), [&](Operand t) { return op.f(t, other); });
  };
  const auto second = [&](const BinaryOp& op, const Tensor& from, const Tensor& other) {
    return takes(passing(from), [&](Operand t) { return op.f(other, t); });
  };
  const auto check_taken = [&](const BinaryOp& op, const Tensor& from, const Tensor& other, bool a, bool b) {
    CAPTURE(op.name);
    CHECK(first(op, from, other) == a);
    CHECK(second(op, from, other) == b);
  };
  const BinaryOp &add = binary_ops()[0], &sub = binary_ops()[1], &mul = binary_ops()[2],
                 &div = binary_ops()[3];
  for (const BinaryOp& op : {add, sub}) {
    check_taken(op, w, w, true, true);
    check_taken(op, w, constant, true, true);
    check_taken(op, constant, w, true, true);
  }
  check_taken(mul, w, w, false, false);
  check_taken(mul, w, constant, true, true);
  check_taken(mul, constant, w, false, false);
  check_taken(div, w, w, true, false);
  check_taken(div, w, constant, true, false);
  check_taken(div, constant, w, true, false);
  for (const NumberOp& op : number_ops()) {
    CAPTURE(op.name);
    CHECK(takes(passing(w), op.f) == (std::strcmp(op.name, "1.5 / a") != 0));
  }
}

TEST_CASE("temporaries: memory that somebody else holds is left alone") {
  const Tensor b = numbers({3, 4}, f32, 2);
  const auto plus_b = [&](Operand t) { return t + b; };
  const Tensor x = leaf({3, 4});

  CHECK_FALSE(takes(exp(x), plus_b));  // exp saved it
  CHECK_FALSE(takes(relu(x), plus_b));
  CHECK(takes(linear(x, leaf({4, 4})), plus_b));  // linear saved its input
  Tensor t = passing(x);
  const Tensor squared = square(t);  // saved by an op it went into
  CHECK_FALSE(taken(t, plus_b));
  CHECK_FALSE(takes(x, plus_b));           // another handle
  CHECK_FALSE(takes(x.detach(), plus_b));  // another handle, without the tape
  x.set_grad(numbers({3, 4}, f32, 5));
  CHECK_FALSE(takes(x.grad(), plus_b));

  Tensor matrix = numbers({3, 4}, f32, 1);
  const Tensor row = matrix[0];
  CHECK_FALSE(taken(matrix, plus_b));               // a view of it
  CHECK_FALSE(takes(matrix.view({3, 4}), plus_b));  // it is a view

  const Tensor named = numbers({3, 4}, f32, 1);
  CHECK((named + b).array().raw() != named.array().raw());
  CHECK((std::move(named) + b).array().raw() != named.array().raw());  // NOLINT: const, so it stays
  CHECK((b + named).array().raw() != named.array().raw());
}

TEST_CASE("temporaries: memory that does not fit the result is not taken") {
  const Tensor b = numbers({3, 4}, f32, 2);
  const auto plus_b = [&](Operand t) { return t + b; };
  CHECK_FALSE(takes(numbers({4}, f32, 1), plus_b));
  CHECK_FALSE(takes(numbers({1, 4}, f32, 1), plus_b));
  CHECK_FALSE(takes(numbers({1, 1}, f32, 1), plus_b));

  // Of views, only one that has all the memory and is laid out as a new result would be.
  CHECK(takes(lone_view({12}, [](const Tensor& x) { return x.view({3, 4}); }), plus_b));
  CHECK_FALSE(takes(lone_view({6, 4}, [](const Tensor& x) { return x.slice(0, 0, 3); }), plus_b));
  CHECK_FALSE(takes(lone_view({6, 4}, [](const Tensor& x) { return x.slice(0, 3); }), plus_b));
  CHECK_FALSE(takes(lone_view({1, 4}, [](const Tensor& x) { return x.expand({3, 4}); }), plus_b));
  CHECK_FALSE(takes(lone_view({4, 3}, [](const Tensor& x) { return x.t(); }), plus_b));
  const auto permuted = [](const Tensor& x) { return x.permute({1, 0, 2}); };
  const auto plus_numbers = [](Operand t) { return t + numbers(t->shape(), f32, 2); };
  CHECK_FALSE(takes(lone_view({3, 2, 4}, permuted), plus_numbers));
  check_same(plus_numbers(lone_view({3, 2, 4}, permuted)),
             plus_numbers(numbers({3, 2, 4}, f32, 1).permute({1, 0, 2})));
  CHECK_FALSE(
      takes(lone_view({4, 1}, [](const Tensor& x) { return x.t(); }), plus_numbers));  // strides [1, 1]
  CHECK_FALSE(
      takes(lone_view({4, 3}, [](const Tensor& x) { return x.t(); }), [](Operand t) { return t * 2.0; }));
  CHECK_FALSE(takes(numbers({12}, f32, 1), [](Operand t) { return t + numbers({3, 1}, f32, 2); }));
  CHECK_FALSE(takes(numbers({4}, i64, 1), [](Operand t) { return t / numbers({4}, i64, 2); }));  // f32
  CHECK_FALSE(takes(numbers({4}, i64, 1), [](Operand t) { return t / 2.0; }));
}

TEST_CASE("temporaries: one tensor as both operands") {
  for (const BinaryOp& op : binary_ops()) {
    CAPTURE(op.name);
    Tensor p = leaf({3, 4}), q = leaf({3, 4}), t = passing(q);
    const Tensor a = passing(p), y = op.f(a, a), z = op.f(std::move(t), t);  // NOLINT: on purpose
    check_same(z, y);
    y.backward(numbers({3, 4}, f32, 3));
    z.backward(numbers({3, 4}, f32, 3));
    check_same(q.grad(), p.grad());
  }
}

TEST_CASE("temporaries: an op that fails leaves its operands as they were") {
  for (const BinaryOp& op : binary_ops()) {
    CAPTURE(op.name);
    for (const Tensor& misfit : {numbers({5}, f32, 2), numbers({3, 4}, f64, 2), Tensor()}) {
      Tensor t = numbers({3, 4}, f32, 1);
      CHECK_THROWS_AS(op.f(std::move(t), misfit), Error);
      CHECK_THROWS_AS(op.f(misfit, std::move(t)), Error);
      check_same(t, numbers({3, 4}, f32, 1));
    }
  }
  Tensor integers = numbers({3}, i64, 1);
  CHECK_THROWS_AS(std::move(integers) + 0.5, Error);
  check_same(integers, numbers({3}, i64, 1));

  // Found only when the result is there: then the operand is gone, rather than another one.
  Tensor t = ones({3});
  const DetectAnomaly guard;
  CHECK_THROWS_AS(std::move(t) + full({3}, NAN), Error);
  CHECK_FALSE(t.defined());
}

TEST_CASE("temporaries: a leaf, a hook and a kept gradient outlive the numbers") {
  Tensor w = leaf({3});
  CHECK(taken(w, [](Operand t) {
    const Tensor y = t * 3.0;
    sum(y).backward();
    return y;
  }));
  CHECK(w.requires_grad());
  check_same(w.grad(), full({3}, 3));

  Tensor x = leaf({3}), t = passing(x);
  int calls = 0;
  t.retain_grad();
  t.on_grad([&](const Array&) { ++calls; });
  const Tensor y = std::move(t) + x;
  CHECK_FALSE(t.defined());
  sum(y * 2.0).backward();
  CHECK(calls == 1);
  check_same(t.grad(), full({3}, 2));
  check_same(x.grad(), full({3}, 4));
}

TEST_CASE("temporaries: checkpoint") {
  const auto f = [](const Tensor& x) { return passing(x) + (tanh(x) * 2.0 - x) / (exp(x) + 1.0); };
  Tensor x = leaf({5, 7}), z = leaf({5, 7});
  const Tensor y = f(x), again = checkpoint(f, z);
  check_same(again, y);
  sum(square(y)).backward();
  sum(square(again)).backward();
  check_same(z.grad(), x.grad());
}

}  // namespace
}  // namespace gradus::test
