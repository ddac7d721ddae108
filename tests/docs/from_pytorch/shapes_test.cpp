// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: shape") {
  using namespace gradus;
  const Tensor x = arange(6.0).reshape({2, 3}), y = arange(4.0).reshape({1, 4, 1});
  const Tensor b = arange(24.0).reshape({2, 3, 4}), v = tensor({3.0, 1.0, 2.0});
  // [shape]
  // py: x.reshape(3, -1)
  gives(x.reshape({3, -1}), "[[0., 1.], [2., 3.], [4., 5.]]");
  // py: x.view(6)
  gives(x.view({6}), "[0., 1., 2., 3., 4., 5.]");
  // py: x.flatten()
  gives(x.flatten(), "[0., 1., 2., 3., 4., 5.]");
  // py: b.flatten(1).shape
  gives(b.flatten(1).shape(), "[2, 12]");
  // py: y.squeeze()
  gives(y.squeeze(), "[0., 1., 2., 3.]");
  // py: y.squeeze(0).shape
  gives(y.squeeze(0).shape(), "[4, 1]");
  // py: x.unsqueeze(-1).shape
  gives(x.unsqueeze(-1).shape(), "[2, 3, 1]");
  // py: x.transpose(0, 1)
  gives(x.transpose(0, 1), "[[0., 3.], [1., 4.], [2., 5.]]");
  // py: x.T
  gives(x.t(), "[[0., 3.], [1., 4.], [2., 5.]]");
  // py: b.mT.shape
  gives(b.transpose(-2, -1).shape(), "[2, 4, 3]");
  // py: b.permute(2, 0, 1).shape
  gives(b.permute({2, 0, 1}).shape(), "[4, 2, 3]");
  // py: b.movedim(1, 0).shape
  gives(b.permute({1, 0, 2}).shape(), "[3, 2, 4]");
  // py: v.expand(2, -1)
  gives(v.expand({2, -1}), "[[3., 1., 2.], [3., 1., 2.]]");
  // py: v.expand_as(x)
  gives(v.expand(x.shape()), "[[3., 1., 2.], [3., 1., 2.]]");
  // py: torch.broadcast_to(v, (2, 3))
  gives(v.expand({2, 3}), "[[3., 1., 2.], [3., 1., 2.]]");
  // py: v.repeat(2, 2)
  gives(v.repeat({2, 2}), "[[3., 1., 2., 3., 1., 2.], [3., 1., 2., 3., 1., 2.]]");
  // py: torch.tile(v, (2,))
  gives(v.repeat({2}), "[3., 1., 2., 3., 1., 2.]");
  // py: v.repeat_interleave(2)
  gives(repeat_interleave(v, 2), "[3., 3., 1., 1., 2., 2.]");
  // py: torch.cat([x, x], dim=1)
  gives(cat({x, x}, 1), "[[0., 1., 2., 0., 1., 2.], [3., 4., 5., 3., 4., 5.]]");
  // py: torch.stack([v, v])
  gives(stack({v, v}), "[[3., 1., 2.], [3., 1., 2.]]");
  // py: torch.vstack([x, x])
  gives(cat({x, x}), "[[0., 1., 2.], [3., 4., 5.], [0., 1., 2.], [3., 4., 5.]]");
  // py: x.split(2, dim=1)
  gives(split(x, 2, 1), "[[0., 1.], [3., 4.]] and [[2.], [5.]]");
  // py: v.split([1, 2])
  gives(split(v, {1, 2}), "[3.] and [1., 2.]");
  // py: v.chunk(2)
  gives(chunk(v, 2), "[3., 1.] and [2.]");
  // py: x.unbind(0)
  gives(unbind(x, 0), "[0., 1., 2.] and [3., 4., 5.]");
  // py: x.flip(1)
  gives(flip(x, 1), "[[2., 1., 0.], [5., 4., 3.]]");
  // py: x.roll(1, 1)
  gives(roll(x, 1, 1), "[[2., 0., 1.], [5., 3., 4.]]");
  // py: x.T.contiguous()
  gives(x.t().contiguous(), "[[0., 3.], [1., 4.], [2., 5.]]");
  // py: v.unfold(0, 2, 1)
  gives(v.unfold(0, 2, 1), "[[3., 1.], [1., 2.]]");
  // py: F.pad(x, (1, 2))
  gives(pad(x, {1, 2}), "[[0., 0., 1., 2., 0., 0.], [0., 3., 4., 5., 0., 0.]]");
  // py: F.pad(x, (0, 1), value=9.)
  gives(pad(x, {0, 1}, 9), "[[0., 1., 2., 9.], [3., 4., 5., 9.]]");
  // py: F.pad(x, (1, 1), mode="reflect")
  gives(pad(x, {1, 1}, PadMode::reflect), "[[1., 0., 1., 2., 1.], [4., 3., 4., 5., 4.]]");
  // py: F.pad(x, (1, 1), mode="replicate")
  gives(pad(x, {1, 1}, PadMode::replicate), "[[0., 0., 1., 2., 2.], [3., 3., 4., 5., 5.]]");
  // [/shape]
}

TEST_CASE("from PyTorch: sorting") {
  using namespace gradus;
  const Tensor x = tensor({{3.0, 1.0, 2.0}, {4.0, 6.0, 5.0}});
  // [sorting]
  // py: x.sort(-1)
  // note: stable; `auto [values, indices] = sort(x, -1);`
  gives(sort(x, -1), "[[1., 2., 3.], [4., 5., 6.]] and [[1, 2, 0], [0, 2, 1]]");
  // py: x.sort(-1, descending=True)[0]
  gives(sort(x, -1, true).first, "[[3., 2., 1.], [6., 5., 4.]]");
  // py: x.argsort(-1)
  gives(sort(x, -1).second, "[[1, 2, 0], [0, 2, 1]]");
  // py: x.topk(2)
  gives(topk(x, 2), "[[3., 2.], [6., 5.]] and [[0, 2], [1, 2]]");
  // py: x.flatten().median()
  gives(sort(x.flatten()).first[(x.numel() - 1) / 2], "3.");
  // py: torch.unique, bincount, histc, searchsorted
  // here: not here: of `to_vector<T>()`, with C++'s algorithms
  // [/sorting]
}

TEST_CASE("from PyTorch: elementwise") {
  using namespace gradus;
  const Tensor x = tensor({0.5, -1.0, 2.0}), y = tensor({2.0, 3.0, -1.0}), i = tensor({7, -7, 2});
  const Tensor n = tensor({1.0, NAN, INFINITY});
  // [elementwise]
  // py: x + y
  gives(x + y, "[2.5000, 2.0000, 1.0000]");
  // py: x - 1
  gives(x - 1, "[-0.5000, -2.0000, 1.0000]");
  // py: 2 * x
  gives(2 * x, "[1., -2., 4.]");
  // py: x / y
  gives(x / y, "[0.2500, -0.3333, -2.0000]");
  // py: -x
  gives(-x, "[-0.5000, 1.0000, -2.0000]");
  // py: x ** 2
  // note: of integers: `i * i`
  gives(x.pow(2), "[0.2500, 1.0000, 4.0000]");
  // py: 2 ** x
  gives(pow(tensor(2.0), x), "[1.4142, 0.5000, 4.0000]");
  // py: torch.pow(y, 3)
  gives(pow(y, 3), "[8., 27., -1.]");
  // py: i // 2
  gives(floor_divide(i, 2), "[3, -4, 1]");
  // py: i % 3
  // note: with the divisor's sign, as in Python
  gives(i % 3, "[1, 2, 2]");
  // py: torch.remainder(y, 2)
  gives(remainder(y, 2), "[0., 1., 1.]");
  // py: x.abs()
  gives(x.abs(), "[0.5000, 1.0000, 2.0000]");
  // py: x.square()
  gives(x.square(), "[0.2500, 1.0000, 4.0000]");
  // py: x.abs().sqrt()
  gives(x.abs().sqrt(), "[0.7071, 1.0000, 1.4142]");
  // py: x.square().rsqrt()
  gives(rsqrt(x.square()), "[2.0000, 1.0000, 0.5000]");
  // py: y.reciprocal()
  gives(reciprocal(y), "[0.5000, 0.3333, -1.0000]");
  // py: x.exp()
  gives(x.exp(), "[1.6487, 0.3679, 7.3891]");
  // py: x.expm1()
  gives(expm1(x), "[0.6487, -0.6321, 6.3891]");
  // py: x.abs().log()
  gives(x.abs().log(), "[-0.6931, 0.0000, 0.6931]");
  // py: torch.log2(x.abs())
  gives(log2(x.abs()), "[-1., 0., 1.]");
  // py: torch.log10(x.abs())
  gives(x.abs().log() / std::log(10.0), "[-0.3010, 0.0000, 0.3010]");
  // py: x.abs().log1p()
  gives(log1p(x.abs()), "[0.4055, 0.6931, 1.0986]");
  // py: x.sign()
  gives(x.sign(), "[1., -1., 1.]");
  // py: x.floor()
  gives(x.floor(), "[0., -1., 2.]");
  // py: x.ceil()
  gives(x.ceil(), "[1., -1., 2.]");
  // py: x.round()
  gives(x.round(), "[0., -1., 2.]");
  // py: x.trunc()
  gives(x.sign() * x.abs().floor(), "[0., -1., 2.]");
  // py: x.sin()
  gives(sin(x), "[0.4794, -0.8415, 0.9093]");
  // py: x.cos()
  gives(cos(x), "[0.8776, 0.5403, -0.4161]");
  // py: x.tan()
  gives(sin(x) / cos(x), "[0.5463, -1.5574, -2.1850]");
  // py: x.tanh()
  gives(x.tanh(), "[0.4621, -0.7616, 0.9640]");
  // py: x.sigmoid()
  gives(x.sigmoid(), "[0.6225, 0.2689, 0.8808]");
  // py: x.erf()
  gives(erf(x), "[0.5205, -0.8427, 0.9953]");
  // py: x.clamp(0, 1)
  gives(x.clamp(0, 1), "[0.5000, 0.0000, 1.0000]");
  // py: x.clamp(min=0)
  gives(x.clamp(0), "[0.5000, 0.0000, 2.0000]");
  // py: x.clamp(max=1)
  gives(x.clamp({}, 1), "[0.5000, -1.0000, 1.0000]");
  // py: torch.maximum(x, y)
  gives(maximum(x, y), "[2., 3., 2.]");
  // py: torch.minimum(x, y)
  gives(minimum(x, y), "[0.5000, -1.0000, -1.0000]");
  // py: torch.lerp(x, y, 0.25)
  gives(x + 0.25 * (y - x), "[0.8750, 0.0000, 1.2500]");
  // py: torch.nan_to_num(n, nan=0., posinf=1.)
  // note: -inf stays; fill `n == -INFINITY` too
  gives(masked_fill(masked_fill(n, isnan(n), 0), n == INFINITY, 1), "[1., 0., 1.]");
  // [/elementwise]
  const Tensor m = tensor({NAN, -INFINITY});
  gives(masked_fill(masked_fill(m, isnan(m), 0), m == INFINITY, 1), "[0., -inf]");
  CHECK_THROWS(i.pow(2));
  gives(i * i, "[49, 49, 4]");
}

TEST_CASE("from PyTorch: comparison") {
  using namespace gradus;
  const Tensor x = tensor({0.5, -1.0, 2.0}), y = tensor({0.5, 3.0, -1.0}), a = x > 0, b = y > 0;
  const Tensor n = tensor({1.0, NAN, INFINITY});
  // [comparison]
  // py: x == y
  // note: a tensor of bools: in an `if` say `(x == y).all()`
  gives(x == y, "[True, False, False]");
  // py: x != 0
  gives(x != 0, "[True, True, True]");
  // py: x < y
  gives(x < y, "[False, True, False]");
  // py: x >= 0
  gives(x >= 0, "[True, False, True]");
  // py: a & b
  gives(a & b, "[True, False, False]");
  // py: a | b
  gives(a | b, "[True, True, True]");
  // py: ~a
  gives(!a, "[False, True, False]");
  // py: a ^ b
  gives(a != b, "[False, True, True]");
  // py: (x == y).all().item()
  gives((x == y).all(), "False");
  // py: (x == y).any().item()
  gives((x == y).any(), "True");
  // py: torch.equal(x, y)
  gives(equal(x, y), "False");
  // py: torch.allclose(x, y)
  gives(allclose(x, y), "False");
  // py: torch.isclose(x, y)
  // note: for finite numbers; in PyTorch inf is close only to inf
  gives((x - y).abs() <= 1e-8 + 1e-5 * y.abs(), "[True, False, False]");
  // py: n.isnan()
  gives(n.isnan(), "[False, True, False]");
  // py: n.isinf()
  gives(n.isinf(), "[False, False, True]");
  // py: n.isfinite()
  gives(n.isfinite(), "[True, False, False]");
  // [/comparison]
}

}  // namespace
