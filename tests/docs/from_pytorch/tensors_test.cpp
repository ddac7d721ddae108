// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <sstream>
#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: creation") {
  using namespace gradus;
  const Tensor x = tensor({{1.0, -2.0, 3.0}, {4.0, 5.0, -6.0}});
  const Tensor v = tensor({3.0, 1.0, 2.0}), u = tensor({5.0, 6.0});
  const std::vector<float> values = {1, 2, 3, 4};
  // [creation]
  // py: torch.tensor([[1., 2.], [3., 4.]])
  gives(tensor({{1.0, 2.0}, {3.0, 4.0}}), "[[1., 2.], [3., 4.]]");
  // py: torch.tensor([1, 2, 3])
  // note: i64, as there
  gives(tensor({1, 2, 3}), "[1, 2, 3]");
  // py: torch.tensor(2.5)
  gives(tensor(2.5), "2.5000");
  // py: torch.tensor([1., 2.], dtype=torch.float64)
  gives(tensor({1.0, 2.0}, f64), "[1., 2.]");
  // py: torch.tensor(values)
  gives(from_vector(values), "[1., 2., 3., 4.]");
  // py: torch.tensor(values).view(2, -1)
  gives(from_vector(values, {2, -1}), "[[1., 2.], [3., 4.]]");
  // py: torch.zeros(2, 3)
  gives(zeros({2, 3}), "[[0., 0., 0.], [0., 0., 0.]]");
  // py: torch.ones(2, 3)
  gives(ones({2, 3}), "[[1., 1., 1.], [1., 1., 1.]]");
  // py: torch.ones(3, dtype=torch.int64)
  gives(ones({3}, i64), "[1, 1, 1]");
  // py: torch.full((2, 2), 7.)
  gives(full({2, 2}, 7.0), "[[7., 7.], [7., 7.]]");
  // py: torch.empty(2, 3).shape
  gives(empty({2, 3}).shape(), "[2, 3]");
  // py: torch.zeros_like(x)
  gives(zeros_like(x), "[[0., 0., 0.], [0., 0., 0.]]");
  // py: torch.ones_like(x)
  gives(ones_like(x), "[[1., 1., 1.], [1., 1., 1.]]");
  // py: torch.full_like(x, 2.)
  gives(full_like(x, 2), "[[2., 2., 2.], [2., 2., 2.]]");
  // py: torch.arange(5)
  gives(arange(5), "[0, 1, 2, 3, 4]");
  // py: torch.arange(1, 10, 3)
  gives(arange(1, 10, 3), "[1, 4, 7]");
  // py: torch.arange(0., 1., 0.25)
  gives(arange(0.0, 1.0, 0.25), "[0.0000, 0.2500, 0.5000, 0.7500]");
  // py: torch.linspace(0, 1, 5)
  gives(linspace(0, 1, 5), "[0.0000, 0.2500, 0.5000, 0.7500, 1.0000]");
  // py: torch.logspace(0, 2, 3)
  gives(pow(tensor(10.0), linspace(0, 2, 3)), "[1., 10., 100.]");
  // py: torch.eye(3)
  gives(eye(3), "[[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]]");
  // py: torch.diag(v)
  gives(where(eye(3) == 1, v, 0), "[[3., 0., 0.], [0., 1., 0.], [0., 0., 2.]]");
  // py: torch.meshgrid(u, v, indexing="ij")[0]
  gives(u.unsqueeze(1).expand({-1, v.numel()}), "[[5., 5., 5.], [6., 6., 6.]]");
  // py: x.clone()
  gives(x.clone(), "[[1., -2., 3.], [4., 5., -6.]]");
  // py: x.new_zeros(2)
  gives(zeros({2}, x.dtype()), "[0., 0.]");
  // [/creation]
}

TEST_CASE("from PyTorch: properties") {
  using namespace gradus;
  const Tensor x = tensor({{1.0, -2.0, 3.0}, {4.0, 5.0, -6.0}});
  std::ostringstream out;
  // [properties]
  // py: x.shape
  gives(x.shape(), "[2, 3]");
  // py: x.size(0)
  gives(x.size(0), "2");
  // py: len(x)
  gives(x.size(0), "2");
  // py: x.dim()
  gives(x.dim(), "2");
  // py: x.numel()
  gives(x.numel(), "6");
  // py: x.stride()
  gives(x.strides(), "[3, 1]");
  // py: x.is_contiguous()
  gives(x.is_contiguous(), "True");
  // py: x.sum().item()
  // note: a double; `item<std::int64_t>()` for integers
  gives(x.sum().item(), "5");
  // py: x.tolist()
  // note: row-major, flat
  gives(x.to_vector<float>(), "[1, -2, 3, 4, 5, -6]");
  // py: x.numpy()
  // note: a contiguous tensor's memory itself
  const std::span<const float> numbers = x.span<float>();
  CHECK(numbers[1] == -2);
  // py: print(x)
  // note: `std::cout << x`, in PyTorch's layout
  out << x;
  CHECK(out.str() == to_string(x));
  // [/properties]
}

TEST_CASE("from PyTorch: dtypes") {
  using namespace gradus;
  const Tensor x = tensor({1.5, 0.0, -2.0}), ids = tensor({1, 0, 2});
  const Tensor y = x.to(f64), m = ones({2, 2});
  Tensor product;
  // [dtypes]
  // py: x.dtype
  // note: f32, f64, i64 or boolean; bf16 and f16 for storage
  gives(x.dtype(), "f32");
  // py: x.float()
  gives(x.to(f32), "[1.5000, 0.0000, -2.0000]");
  // py: x.double()
  gives(x.to(f64), "[1.5000, 0.0000, -2.0000]");
  // py: x.long()
  gives(x.to(i64), "[1, 0, -2]");
  // py: x.bool()
  gives(x.to(boolean), "[True, False, True]");
  // py: x.to(torch.float64)
  gives(x.to(f64), "[1.5000, 0.0000, -2.0000]");
  // py: x.type_as(y).dtype
  gives(x.to(y.dtype()).dtype(), "f64");
  // py: x.is_floating_point()
  gives(is_floating(x.dtype()), "True");
  // py: x + ids
  // note: two tensors of different dtypes are an error; numbers take the tensor's
  gives(x + ids.to(x.dtype()), "[2.5000, 0.0000, 0.0000]");
  // py: ids / 2
  // note: true division, as there
  gives(ids / 2, "[0.5000, 0.0000, 1.0000]");
  // py: torch.set_default_dtype(torch.float64)
  // note: or for a scope `DefaultDType guard(f64);`
  set_default_dtype(f64);
  CHECK(zeros({1}).dtype() == f64);
  set_default_dtype(f32);
  // py: x.bfloat16()
  // note: for storage: an op that computes throws; convert back with .to(f32)
  gives(x.to(bf16), "[1.5000, 0.0000, -2.0000]");
  // py: x.half()
  // note: the same
  gives(x.to(f16), "[1.5000, 0.0000, -2.0000]");
  // py: x.int(), torch.uint8
  // here: not here: integers are i64
  // py: x.to("cuda"), x.cpu(), x.device, pin_memory
  // here: not here: everything runs on the CPU; omit it
  // py: torch.set_num_threads(4)
  // note: results have the same bits for any number
  set_num_threads(4);
  CHECK(num_threads() == 4);
  // py: with torch.autocast("cpu", torch.bfloat16): y = m @ m
  // note: results stay f32 ([precision](precision.md))
  {
    const Autocast guard(bf16);
    product = matmul(m, m);
  }
  CHECK(product.dtype() == f32);
  // py: GradScaler, torch.compile
  // here: not here: gradients are f32 and need no scale
  // [/dtypes]
}

TEST_CASE("from PyTorch: indexing") {
  using namespace gradus;
  const Tensor x = tensor({{1.0, -2.0, 3.0}, {4.0, 5.0, -6.0}}), mask = x > 0;
  const Tensor ids = tensor({1, 0, 1}), rows = tensor({0, 1}), cols = tensor({2, 0});
  const Tensor index = tensor({{2}, {0}}), source = tensor({{9.0}, {8.0}});
  // [indexing]
  // py: x[0]
  gives(x[0], "[1., -2., 3.]");
  // py: x[-1]
  gives(x[-1], "[4., 5., -6.]");
  // py: x[0, 1]
  gives(x[0][1], "-2.");
  // py: x[:, 1]
  gives(x.select(1, 1), "[-2., 5.]");
  // py: x[..., -1]
  gives(x.select(-1, -1), "[3., -6.]");
  // py: x[1:]
  gives(x.slice(0, 1), "[[4., 5., -6.]]");
  // py: x[:, 0:2]
  gives(x.slice(1, 0, 2), "[[1., -2.], [4., 5.]]");
  // py: x[:, ::2]
  gives(x.slice(1, 0, {}, 2), "[[1., 3.], [4., -6.]]");
  // py: x.narrow(1, 1, 2)
  gives(x.slice(1, 1, 1 + 2), "[[-2., 3.], [5., -6.]]");
  // py: x[None]
  gives(x.unsqueeze(0), "[[[1., -2., 3.], [4., 5., -6.]]]");
  // py: x[mask]
  gives(x[mask], "[1., 3., 4., 5.]");
  // py: x[ids]
  gives(x[ids], "[[4., 5., -6.], [1., -2., 3.], [4., 5., -6.]]");
  // py: x[:, ids]
  gives(index_select(x, 1, ids), "[[-2., 1., -2.], [5., 4., 5.]]");
  // py: x[rows, cols]
  gives(x.flatten()[rows * x.size(1) + cols], "[3., 4.]");
  // py: x.gather(1, index)
  gives(gather(x, 1, index), "[[3.], [4.]]");
  // py: x.take_along_dim(index, 1)
  gives(gather(x, 1, index), "[[3.], [4.]]");
  // py: x.index_select(0, ids)
  gives(index_select(x, 0, ids), "[[4., 5., -6.], [1., -2., 3.], [4., 5., -6.]]");
  // py: x.masked_select(mask)
  gives(masked_select(x, mask), "[1., 3., 4., 5.]");
  // py: x.masked_fill(mask, 0.)
  gives(masked_fill(x, mask, 0), "[[0., -2., 0.], [0., 0., -6.]]");
  // py: torch.where(mask, x, 0.)
  gives(where(mask, x, 0), "[[1., 0., 3.], [4., 5., 0.]]");
  // py: mask.nonzero()
  gives(nonzero(mask), "[[0, 0], [0, 2], [1, 0], [1, 1]]");
  // py: torch.where(mask)[0]
  gives(nonzero(mask).select(1, 0), "[0, 0, 1, 1]");
  // py: x.scatter(1, index, source)
  gives(scatter(x, 1, index, source), "[[1., -2., 9.], [8., 5., -6.]]");
  // py: x.scatter(1, index, 7.)
  gives(scatter(x, 1, index, 7), "[[1., -2., 7.], [7., 5., -6.]]");
  // py: x.scatter_add(1, index, source)
  gives(scatter_add(x, 1, index, source), "[[1., -2., 12.], [12., 5., -6.]]");
  // py: x.index_add(0, rows, x)
  gives(index_add(x, 0, rows, x), "[[2., -4., 6.], [8., 10., -12.]]");
  // py: x.tril()
  gives(tril(x), "[[1., 0., 0.], [4., 5., 0.]]");
  // py: x.triu(1)
  gives(triu(x, 1), "[[0., -2., 3.], [0., 0., -6.]]");
  // py: F.one_hot(ids, 3)
  gives(one_hot(ids, 3), "[[0, 1, 0], [1, 0, 0], [0, 1, 0]]");
  // py: torch.diagonal(x[:, :2])
  gives(einsum("ii->i", {x.slice(1, 0, 2)}), "[1., 5.]");
  // [/indexing]
}

TEST_CASE("from PyTorch: writing") {
  using namespace gradus;
  Tensor x = tensor({{1.0, -2.0, 3.0}, {4.0, 5.0, -6.0}});
  const Tensor ids = tensor({1, 0}), values = tensor({1.0, 2.0, 3.0});
  // [writing]
  // py: x[x < 0] = 0.
  x[x < 0] = 0.0;
  gives(x, "[[1., 0., 3.], [4., 5., 0.]]");
  // py: x[ids] = values
  x[ids] = values;
  gives(x, "[[1., 2., 3.], [1., 2., 3.]]");
  // py: x[0] = 5.
  x[0] = 5;
  gives(x, "[[5., 5., 5.], [1., 2., 3.]]");
  // py: x[0, 1] = 2.
  x[0][1] = 2;
  gives(x, "[[5., 2., 5.], [1., 2., 3.]]");
  // py: x[:, 1] = 7.
  x.select(1, 1) = 7;
  gives(x, "[[5., 7., 5.], [1., 7., 3.]]");
  // py: x[1] = values
  // note: into x; `y = values;` makes y another handle to `values`
  x[1] = values;
  gives(x, "[[5., 7., 5.], [1., 2., 3.]]");
  // py: x[:, 1:] = 0.
  x.slice(1, 1) = 0;
  gives(x, "[[5., 0., 0.], [1., 0., 0.]]");
  // py: x[:, :1] *= 10.
  x.slice(1, 0, 1) *= 10;
  gives(x, "[[50., 0., 0.], [10., 0., 0.]]");
  // py: x += 1.
  x += 1;
  gives(x, "[[51., 1., 1.], [11., 1., 1.]]");
  // py: x -= values
  x -= values;
  gives(x, "[[50., -1., -2.], [10., -1., -2.]]");
  // py: x *= 2.
  x *= 2;
  gives(x, "[[100., -2., -4.], [20., -2., -4.]]");
  // py: x /= 4.
  x /= 4;
  gives(x, "[[25.0000, -0.5000, -1.0000], [5.0000, -0.5000, -1.0000]]");
  // py: x.copy_(values)
  x.copy_(values);
  gives(x, "[[1., 2., 3.], [1., 2., 3.]]");
  // py: x.fill_(3.)
  x.fill_(3);
  gives(x, "[[3., 3., 3.], [3., 3., 3.]]");
  // py: x.clamp_(max=2.)
  // note: every other op_: `x.copy_(x.exp());`
  x[x > 2] = 2;
  gives(x, "[[2., 2., 2.], [2., 2., 2.]]");
  // py: x.zero_()
  x.zero_();
  gives(x, "[[0., 0., 0.], [0., 0., 0.]]");
  // [/writing]
}

}  // namespace
