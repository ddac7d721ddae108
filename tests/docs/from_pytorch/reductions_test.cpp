// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: reductions") {
  using namespace gradus;
  const Tensor x = tensor({{1.0, -2.0, 3.0}, {4.0, 5.0, -6.0}});
  // [reductions]
  // py: x.sum()
  gives(x.sum(), "5.");
  // py: x.sum(1)
  gives(x.sum(1), "[2., 3.]");
  // py: x.sum(-1, keepdim=True)
  gives(x.sum(-1, true), "[[2.], [3.]]");
  // py: x.sum((0, 1))
  gives(x.sum({0, 1}), "5.");
  // py: x.mean(0)
  gives(x.mean(0), "[2.5000, 1.5000, -1.5000]");
  // py: x.var(-1)
  gives(x.var(-1), "[6.3333, 37.0000]");
  // py: x.var(-1, unbiased=False)
  gives(x.var(-1, {.unbiased = false}), "[4.2222, 24.6667]");
  // py: x.std()
  gives(x.std(), "4.1673");
  // py: x.prod(1)
  gives(x.prod(1), "[-6., -120.]");
  // py: x.max()
  gives(x.max(), "5.");
  // py: x.amax(1)
  // note: the gradient is shared by equal elements, as amax's
  gives(x.max(1), "[3., 5.]");
  // py: x.amin(1)
  gives(x.min(1), "[-2., -6.]");
  // py: x.max(1)
  // note: `auto [values, indices] = ...`
  gives(x.max_with_indices(1), "[3., 5.] and [2, 1]");
  // py: x.min(1)
  gives(x.min_with_indices(1), "[-2., -6.] and [1, 2]");
  // py: x.argmax()
  gives(x.argmax(), "4");
  // py: x.argmax(-1)
  gives(x.argmax(-1), "[2, 1]");
  // py: x.argmin(0)
  gives(x.argmin(0), "[0, 0, 1]");
  // py: (x > 0).all(1)
  gives((x > 0).all(1), "[False, False]");
  // py: (x > 0).any(1)
  gives((x > 0).any(1), "[True, True]");
  // py: (x > 0).sum()
  gives((x > 0).sum(), "4");
  // py: torch.count_nonzero(x)
  gives((x != 0).sum(), "6");
  // py: x.norm()
  gives(x.norm(), "9.5394");
  // py: x.norm(dim=1)
  gives(x.norm(2, 1), "[3.7417, 8.7750]");
  // py: x.norm(p=1)
  gives(x.norm(1), "21.");
  // py: x.logsumexp(-1)
  gives(logsumexp(x, -1), "[3.1328, 5.3133]");
  // py: x.cumsum(1)
  gives(cumsum(x, 1), "[[1., -1., 2.], [4., 9., 3.]]");
  // py: x.nansum()
  gives(masked_fill(x, x.isnan(), 0).sum(), "5.");
  // py: x.nanmean()
  gives(x[!x.isnan()].mean(), "0.8333");
  // py: x.cumprod(0), x.mode(), x.kthvalue(k), torch.quantile
  // here: not here; the last two from `sort(x)`
  // [/reductions]
  const Tensor gap = tensor({1.0, NAN, 3.0});
  gives(masked_fill(gap, gap.isnan(), 0).sum(), "4.");
  gives(gap[!gap.isnan()].mean(), "2.");
}

TEST_CASE("from PyTorch: linalg") {
  using namespace gradus;
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}}), b = tensor({{0.0, 1.0}, {1.0, 1.0}});
  const Tensor v = tensor({1.0, -1.0}), q = arange(12.0).reshape({2, 2, 3}), k = q;
  // [linalg]
  // py: a @ b
  // note: or `a.matmul(b)`; batches broadcast
  gives(matmul(a, b), "[[2., 3.], [4., 7.]]");
  // py: a @ v
  gives(matmul(a, v), "[-1., -1.]");
  // py: torch.mm(a, b)
  gives(matmul(a, b), "[[2., 3.], [4., 7.]]");
  // py: torch.bmm(q, k.mT)
  gives(matmul(q, k.transpose(-2, -1)), "[[[5., 14.], [14., 50.]], [[149., 212.], [212., 302.]]]");
  // py: torch.dot(v, v)
  gives(matmul(v, v), "2.");
  // py: torch.outer(v, v)
  gives(outer(v, v), "[[1., -1.], [-1., 1.]]");
  // py: torch.einsum("bqd,bkd->bqk", q, k)
  gives(einsum("bqd,bkd->bqk", {q, k}), "[[[5., 14.], [14., 50.]], [[149., 212.], [212., 302.]]]");
  // py: torch.trace(a)
  gives(einsum("ii", {a}), "5.");
  // py: torch.addmm(a, b, b)
  gives(a + matmul(b, b), "[[2., 3.], [4., 6.]]");
  // py: torch.cdist(a, b)
  gives((a.unsqueeze(1) - b.unsqueeze(0)).norm(2, -1), "[[1.4142, 1.0000], [4.2426, 3.6056]]");
  // py: torch.linalg.norm(a)
  gives(a.norm(), "5.4772");
  // py: torch.linalg.inv, solve, svd, eigh, det, cholesky
  // here: not here
  // [/linalg]
}

}  // namespace
