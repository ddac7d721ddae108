#include "gradus/core/dump.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "support.h"

using namespace gradus;

namespace {

/// The output of dump(x) to stderr.
template <class T>
std::string dumped(const T& x) {
  const test::ScratchFolder folder;
  const std::string path = folder / "stderr";
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO), file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(kept >= 0);
  REQUIRE(file >= 0);
  dup2(file, STDERR_FILENO);
  dump(x);
  dup2(kept, STDERR_FILENO);
  close(kept);
  close(file);
  std::ifstream text(path);
  return {std::istreambuf_iterator<char>(text), {}};
}

}  // namespace

TEST_CASE("dump: describes a tensor") {
  CHECK(dumped(tensor({{1.5, 2.0}, {-3.0, 4.0}})) ==
        "f32 [2, 2]\nmin -3, max 4, mean 1.125\ntensor([[ 1.5000,  2.0000],\n        [-3.0000,  4.0000]])\n");
  CHECK(dumped(arange(4)) == "i64 [4]\nmin 0, max 3, mean 1.5\ntensor([0, 1, 2, 3])\n");
  CHECK(dumped(tensor({true, false})) == "bool [2]\nmin 0, max 1, mean 0.5\ntensor([ True, False])\n");
  CHECK(dumped(tensor(0.5)) == "f32 []\nmin 0.5, max 0.5, mean 0.5\ntensor(0.5000)\n");
  CHECK(dumped(zeros({0, 3}, f64)) == "f64 [0, 3]\ntensor([], size=(0, 3), dtype=f64)\n");
  CHECK(dumped(Tensor()) == "tensor(undefined)\n");
  CHECK(dumped(Array()) == "array(undefined)\n");
  CHECK(dumped(Array::zeros({2}, i64)) == "i64 [2]\nmin 0, max 0, mean 0\narray([0, 0])\n");
  CHECK(dumped(Shape{2, 3}) == "[2, 3]\n");
}

TEST_CASE("dump: views are read in place") {
  const Tensor x = reshape(arange(6), {2, 3});
  CHECK(dumped(x.slice(1, 1)) ==
        "i64 [2, 2], strides [3, 1]\nmin 1, max 5, mean 3\ntensor([[1, 2],\n        [4, 5]])\n");
  // An expanded axis is read once: this one has 10^12 elements, where addresses have 64 bits.
  const std::int64_t columns = sizeof(void*) == 8 ? 1000000 : 200;
  CHECK(dumped(expand(tensor(1.5), {1000000, columns})).find("min 1.5, max 1.5, mean 1.5\n") !=
        std::string::npos);
  CHECK(dumped(expand(zeros({2, 0}), {2, 0})).starts_with("f32 [2, 0]"));
}

TEST_CASE("dump: counts values that are not finite") {
  CHECK(dumped(tensor({1.0, NAN, INFINITY, -INFINITY})) ==
        "f32 [4]\nmin 1, max 1, mean 1, 1 NaN, 2 infinite\ntensor([1., nan, inf, -inf])\n");
  CHECK(dumped(tensor({NAN, NAN})) == "f32 [2]\n2 NaN\ntensor([nan, nan])\n");
}

TEST_CASE("dump: the tape") {
  Tensor w = tensor({1.0, 2.0});
  w.requires_grad_();
  const std::string values = "min 1, max 2, mean 1.5\ntensor([1., 2.], requires_grad=True)\n";
  CHECK(dumped(w) == "f32 [2], leaf, requires grad\n" + values + "grad: none\n");
  (w * w).sum().backward();
  CHECK(dumped(w) ==
        "f32 [2], leaf, requires grad\n" + values + "grad: f32 [2]\nmin 2, max 4, mean 3\narray([2., 4.])\n");
  CHECK(dumped(w * 3) ==
        "f32 [2], from mul, requires grad\nmin 3, max 6, mean 4.5\ntensor([3., 6.], grad_fn=<mul>)\n");
  w.requires_grad_(false);
  CHECK(dumped(w) == "f32 [2], leaf, frozen\nmin 1, max 2, mean 1.5\ntensor([1., 2.])\n");
  const nn::Linear layer(1, 1);
  CHECK(dumped(layer.weight).starts_with("f32 [1, 1], leaf Linear.weight, requires grad\n"));
}
