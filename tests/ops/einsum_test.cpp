#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "values.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::check_op;
using gradus::test::counting;
using gradus::test::Tensors;
using gradus::test::Values;

namespace {

Tensor numbers(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return rand(shape, generator, f64);
}

void check_equal(const Tensor& got, const Tensor& want) {
  CHECK(got.shape() == want.shape());
  CHECK(allclose(got, want, 1e-12, 1e-13));
}

}  // namespace

TEST_CASE("einsum of one operand sums, transposes and takes diagonals") {
  const Tensor x = numbers({3, 4}, 1), square = numbers({3, 3}, 2), cube = numbers({2, 3, 2}, 3);
  check_equal(einsum("ij->ji", {x}), x.t());
  check_equal(einsum("ij->", {x}), x.sum());
  check_equal(einsum("ij->j", {x}), x.sum(0));
  check_equal(einsum("ba", {x}), x.t());  // without ->: sorted
  check_equal(einsum("ab", {x}), x);
  check_equal(einsum("ii", {square}), square[0][0] + square[1][1] + square[2][2]);
  check_equal(einsum("ii->i", {square}), stack({square[0][0], square[1][1], square[2][2]}));
  check_equal(einsum("iji->ji", {cube}), stack({cube[0].t()[0], cube[1].t()[1]}, 1));
  check_equal(einsum("iii->", {numbers({2, 2, 2}, 4)}),
              numbers({2, 2, 2}, 4)[0][0][0] + numbers({2, 2, 2}, 4)[1][1][1]);
  check_equal(einsum("i...->...", {cube}), cube.sum(0));
  check_equal(einsum("...", {cube}), cube);
  check_equal(einsum("...i->i...", {cube}), cube.permute({2, 0, 1}));
  check_equal(einsum("", {tensor(2.0, f64)}), tensor(2.0, f64));
}

TEST_CASE("einsum of two operands is a product") {
  const Tensor a = numbers({3, 4}, 1), b = numbers({4, 5}, 2), v = numbers({4}, 3), w = numbers({4}, 4);
  check_equal(einsum("ij,jk->ik", {a, b}), matmul(a, b));
  check_equal(einsum(" ij , jk -> ki ", {a, b}), matmul(a, b).t());
  check_equal(einsum("ij,jk", {a, b}), matmul(a, b));
  check_equal(einsum("i,i->", {v, w}), (v * w).sum());
  check_equal(einsum("i,j->ij", {v, w}), outer(v, w));
  check_equal(einsum("i,i->i", {v, w}), v * w);
  check_equal(einsum("ij,j->ij", {a, v}), a * v);
  check_equal(einsum("ij,ij->i", {a, a}), (a * a).sum(1));
  check_equal(einsum("ij,kl->", {a, b}), a.sum() * b.sum());
  check_equal(einsum("ij,kl->jl", {a, b}), outer(a.sum(0), b.sum(0)));
  const Tensor q = numbers({2, 3, 5, 4}, 5), k = numbers({2, 3, 6, 4}, 6);
  check_equal(einsum("bhqd,bhkd->bhqk", {q, k}), matmul(q, k.transpose(-2, -1)));
  check_equal(einsum("...qd,...kd->...qk", {q, k}), matmul(q, k.transpose(-2, -1)));
  check_equal(einsum("...qd,...kd->...qk", {q, k[0][0]}), matmul(q, k[0][0].t()));
  check_equal(einsum("bhqd,hkd->bqk", {q, k[1]}), matmul(q, k[1].transpose(-2, -1)).sum(1));
  check_equal(einsum("...ij,...jk->ik", {q, numbers({4, 2}, 7)}), matmul(q, numbers({4, 2}, 7)).sum({0, 1}));
  // An axis of size 1 broadcasts.
  check_equal(einsum("ij,ij->ij", {a, v.unsqueeze(0)}), a * v);
  check_equal(einsum("ij,ij->", {a, numbers({3, 1}, 8)}), (a * numbers({3, 1}, 8)).sum());
  check_equal(einsum("ij,jk->ik", {numbers({3, 1}, 8), b}), matmul(numbers({3, 1}, 8).expand({3, 4}), b));
  check_equal(einsum("Aa,aA->", {a, a.t()}), (a * a).sum());
}

TEST_CASE("einsum of many operands multiplies from the left") {
  const Tensor a = numbers({2, 3}, 1), b = numbers({3, 4}, 2), c = numbers({4, 5}, 3), v = numbers({2}, 4);
  check_equal(einsum("ij,jk,kl->il", {a, b, c}), matmul(matmul(a, b), c));
  check_equal(einsum("ij,jk,kl,i->l", {a, b, c, v}), matmul(v, matmul(matmul(a, b), c)));
  check_equal(einsum("i,ij,i->ij", {v, a, v}), (v * v).unsqueeze(1) * a);
  check_equal(einsum("i,i,i->", {v, v, v}), (v * v * v).sum());
  const Tensor x = numbers({3, 2}, 5), m = numbers({4, 2, 6}, 6), y = numbers({3, 6}, 7);
  check_equal(einsum("bn,anm,bm->ba", {x, m, y}),
              stack({(matmul(x, m[0]) * y).sum(1), (matmul(x, m[1]) * y).sum(1), (matmul(x, m[2]) * y).sum(1),
                     (matmul(x, m[3]) * y).sum(1)},
                    1));
}

TEST_CASE("einsum of nothing") {
  CHECK(einsum("ij,jk->ik", {zeros({2, 0}), zeros({0, 3})}).to_vector<double>() == Values(6, 0.0));
  CHECK(einsum("ij,jk->ik", {zeros({0, 2}), zeros({2, 3})}).shape() == Shape{0, 3});
  CHECK(einsum("ii->i", {zeros({0, 0})}).shape() == Shape{0});
  CHECK(einsum("i,i->", {zeros({0}), zeros({1})}).item() == 0);
  CHECK(einsum("i->", {zeros({0})}).item() == 0);
}

TEST_CASE("gradients of einsum") {
  const auto of = [](std::string equation) {
    return [=](const Tensors& xs) { return einsum(equation, xs); };
  };
  const test::CheckOptions products = {.layout_bits = false};
  check_op("einsum", of("ii->i"), {{3, 3}});
  check_op("einsum", of("iji->j"), {{2, 3, 2}});
  check_op("einsum", of("ij->ji"), {{2, 3}});
  check_op("einsum", of("ij,jk->ik"), {{2, 3}, {3, 4}}, products);
  check_op("einsum", of("bqd,bkd->bqk"), {{2, 3, 4}, {2, 5, 4}}, products);
  check_op("einsum", of("bhqd,hkd->bqk"), {{2, 3, 2, 4}, {3, 5, 4}}, products);
  check_op("einsum", of("i,j->ji"), {{3}, {4}}, products);
  check_op("einsum", of("i,ij,ik->jk"), {{3}, {3, 2}, {3, 4}}, products);
  check_op("einsum", of("...i,...i->..."), {{2, 3, 4}, {3, 4}}, products);
  check_op("einsum", of("ij,ij->i"), {{3, 1}, {3, 4}}, products);
  check_op("einsum", of("ii,ij->j"), {{3, 3}, {3, 2}}, products);
  check_op("einsum", of("ij,jk->ik"), {{0, 3}, {3, 4}}, products);
  check_op("einsum", of("bij,bjk->bik"), {{3, 70, 90}, {3, 90, 60}}, products);
}

TEST_CASE("einsum: errors") {
  const Tensor x = zeros({2, 3}), y = zeros({4, 5});
  check_error([&] { einsum("ij,jk->ik", {x}); }, "einsum: \"ij,jk->ik\" is for 2 operands, got 1");
  check_error([&] { einsum("ij->ij", {x, y}); }, "einsum: \"ij->ij\" is for 1 operands, got 2");
  check_error([&] { einsum("ijk->i", {x}); },
              "einsum: \"ijk->i\" has 3 letters for operand 0, but that is [2, 3]");
  check_error([&] { einsum("ijk...->i", {x}); },
              "einsum: \"ijk...->i\" has at least 3 letters for operand 0, but that is [2, 3]");
  check_error(
      [&] {
        einsum("ij,jk->ik", {x, y});
      },
      "einsum: \"ij,jk->ik\": axis 0 of operand 1 [4, 5] has size 4, j has 3");
  check_error(
      [&] {
        einsum("...,...->...", {x, y});
      },
      "einsum: \"...,...->...\": axis 0 of operand 1 [4, 5] has size 4, the ellipsis before it has 2");
  check_error([&] { einsum("ii->i", {x}); },
              "einsum: \"ii->i\" takes the diagonal of axes of 2 and 3, i, in operand 0 [2, 3]");
  check_error([&] { einsum("ij->ik", {x}); }, "einsum: the result of \"ij->ik\" has k, which no operand has");
  check_error([&] { einsum("ij->ii", {x}); }, "einsum: the result of \"ij->ii\" has i twice");
  const std::string letters = ": expects letters, one for each axis, and at most one ellipsis ...";
  check_error([&] { einsum("i1->i", {x}); }, "einsum: \"i1->i\" has \"i1\"" + letters);
  check_error([&] { einsum("ij->i->j", {x}); }, "einsum: \"ij->i->j\" has \"i->j\"" + letters);
  check_error([&] { einsum("......->", {x}); }, "einsum: \"......->\" has \"......\"" + letters);
  check_error(
      [&] {
        einsum("ij,ij->ij", {x, x.to(f64)});
      },
      "einsum: operands have different dtypes: f32 [2, 3] and f64 [2, 3]: convert one with .to()");
  check_error([&] { einsum("ij->i", {x.to(i64)}); },
              "einsum: expects f32 or f64, got i64 [2, 3]: convert with .to(f32)");
  check_error([&] { einsum("ij->i", {Tensor()}); }, "einsum" + test::kUndefined);
  check_error(
      [&] {
        einsum("abcde,fghij->abcdefghij", {zeros({1, 1, 1, 1, 1}), zeros({1, 1, 1, 1, 1})});
      },
      "einsum: operands meet in 10 axes, and there is no room for more than 8: put them in another "
      "order");
}
