// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: autograd") {
  using namespace gradus;
  Tensor w = tensor({1.0, 2.0}).requires_grad_(), b = tensor(0.5).requires_grad_();
  const Tensor x = tensor({3.0, -1.0});
  // [autograd]
  // py: w = torch.tensor([1., 2.], requires_grad=True)
  Tensor p = tensor({1.0, 2.0}).requires_grad_();
  CHECK(p.requires_grad());
  // py: loss.backward()
  ((w * x).sum() + b).backward();
  gives(w.grad(), "[3., -1.]");
  // py: w.grad
  // note: undefined before the first backward: `w.grad().defined()`
  gives(w.grad(), "[3., -1.]");
  // py: w.grad.zero_(); w.grad = None
  w.zero_grad();
  CHECK(!w.grad().defined());
  // py: y.backward(gradient)
  (w * x).backward(tensor({1.0, 10.0}));
  gives(w.grad(), "[3., -10.]");
  // py: loss.backward(retain_graph=True)
  w.square().sum().backward(true);
  gives(w.grad(), "[5., -6.]");
  // py: torch.autograd.grad(loss, [w, b])
  const TensorList d = grad((w * x).sum() * b, {w, b});
  gives(d[0], "[1.5000, -0.5000]");
  gives(d[1], "1.");
  // py: create_graph=True
  // note: an option of `grad`, `jacobian`, `hessian`, `hvp`, `vjp` and `jvp`, not of `backward`
  Tensor penalized = tensor({2.0, 3.0}).requires_grad_();
  const Tensor slope = grad(penalized.pow(3).sum(), {penalized}, {.create_graph = true})[0];
  slope.sum().backward();
  gives(penalized.grad(), "[12., 18.]");
  // py: with torch.no_grad(): w -= 0.1 * w.grad
  // note: a guard works until the end of its scope, and needs a name
  {
    const NoGrad guard;
    w -= 0.1 * w.grad();
  }
  gives(w, "[0.5000, 2.6000]");
  // py: with torch.enable_grad():
  const EnableGrad guard;
  CHECK(grad_enabled());
  // py: x.detach()
  gives(w.detach(), "[0.5000, 2.6000]");
  // py: x.requires_grad, x.is_leaf
  gives(w.requires_grad() && w.is_leaf(), "True");
  // py: h.retain_grad()
  const Tensor h = (w * x).retain_grad();
  h.sum().backward();
  gives(h.grad(), "[1., 1.]");
  // py: h.register_hook(lambda g: g * 0.5)
  const Tensor k = (w * x).on_grad([](const Tensor& dk) { return dk * 0.5; });
  w.zero_grad();
  k.sum().backward();
  gives(w.grad(), "[1.5000, -0.5000]");
  // py: torch.autograd.gradcheck(f, (x,))
  // note: throws and names the worst element, where PyTorch returns False or raises
  gradcheck([](const Tensor& y) { return y.pow(3); }, {tensor({1.0, 2.0}, f64).requires_grad_()});
  // py: torch.autograd.gradgradcheck(f, (x,))
  // note: checks second derivatives; call `gradcheck`, too
  gradgradcheck([](const Tensor& y) { return y.pow(3); }, {tensor({1.0, 2.0}, f64).requires_grad_()});
  // py: torch.autograd.set_detect_anomaly(True)
  const DetectAnomaly anomaly;
  CHECK_THROWS_AS((w - 9).sqrt(), Error);
  // py: torch.utils.checkpoint.checkpoint(f, x)
  const Tensor y = checkpoint([](const Tensor& t) { return t.exp(); }, x);
  CHECK(allclose(y, x.exp()));
  // py: torch.autograd.Function
  // here: `record`: [your own op](your_own_op.md)
  // py: torch.autograd.Function with double backward
  // here: a closure generic over Array and Tensor: [second derivatives](your_own_op.md#second-derivatives)
  // py: @torch.autograd.function.once_differentiable
  // here: a closure that takes only `Array`s: with `create_graph` the op throws, naming itself
  // py: torch.autograd.functional.jacobian(torch.exp, z); torch.func.jacrev(torch.exp)(z)
  // note: `[i][j]`: the derivative of output i with respect to input j
  const Tensor z = tensor({0.0, 1.0});
  const Tensor J = jacobian([](const Tensor& t) { return t.exp(); }, {z})[0][0];
  gives(J, "[[1.0000, 0.0000], [0.0000, 2.7183]]");
  // py: torch.autograd.functional.hessian(lambda t: t.pow(3).sum(), z); torch.func.hessian(...)(z)
  // note: `[i][j]`: the second derivative with respect to inputs i and j
  const Tensor H = hessian([](const Tensor& t) { return t.pow(3).sum(); }, {z})[0][0];
  gives(H, "[[0., 0.], [0., 6.]]");
  // py: torch.autograd.functional.hvp(lambda t: t.pow(3).sum(), z, v)
  // note: the products alone; of a model: `hvp([&] { return model.loss(x, y); }, model.parameters(), v)`
  const Tensor v = tensor({1.0, 2.0});
  const TensorList hv = hvp([](const Tensor& t) { return t.pow(3).sum(); }, {z}, {v});
  gives(hv[0], "[0., 12.]");
  // py: torch.autograd.functional.vjp(torch.square, z, v)
  // note: the outputs and v^T J; `torch.func.vjp` returns a function instead of v^T J
  const auto [squares, vj] = vjp([](const Tensor& t) { return t.square(); }, {z}, {v});
  gives(vj[0], "[0., 4.]");
  // py: torch.autograd.functional.jvp(torch.square, z, v); torch.func.jvp(torch.square, (z,), (v,))
  // note: the outputs and J v, by two backward passes; there is no forward mode
  const auto [same, jv] = jvp([](const Tensor& t) { return t.square(); }, {z}, {v});
  gives(jv[0], "[0., 4.]");
  // py: torch.func.functional_call
  // here: not here: write the net as a function of its weights, as in [MAML](recipes.md#learning-to-learn)
  // py: torch.func.vmap
  // here: not here: most ops broadcast over leading axes
  // [/autograd]
}

TEST_CASE("from PyTorch: random") {
  using namespace gradus;
  const Tensor x = zeros({2, 3}), p = full({2, 3}, 0.5), weights = tensor({0.0, 1.0});
  // [random]
  // py: torch.manual_seed(0)
  // note: other numbers than PyTorch's, the same on every machine
  manual_seed(0);
  const Tensor first = rand({3});
  manual_seed(0);
  CHECK((rand({3}) == first).all());
  // py: g = torch.Generator().manual_seed(7)
  Generator g(7);
  CHECK((randn({4}, g).numel()) == 4);
  // py: torch.randn(2, 3, generator=g)
  const Tensor noise = randn({2, 3}, g);
  CHECK(noise.shape() == Shape{2, 3});
  // py: g.get_state(); g.set_state(s)
  const Array s = g.get_state();
  g.set_state(s);
  CHECK(s.numel() == 3);
  // py: torch.rand(2, 3).shape
  gives(rand({2, 3}).shape(), "[2, 3]");
  // py: torch.randn_like(x).shape
  gives(randn_like(x).shape(), "[2, 3]");
  // py: torch.randint(0, 10, (2, 3)).shape
  gives(randint(0, 10, {2, 3}).shape(), "[2, 3]");
  // py: torch.randperm(5).sort()[0]
  gives(sort(randperm(5)).first, "[0, 1, 2, 3, 4]");
  // py: torch.normal(5., 2., (2, 3)).shape
  gives((5 + 2 * randn({2, 3})).shape(), "[2, 3]");
  // py: torch.empty(2, 3).uniform_(-1, 1).shape
  gives((rand({2, 3}) * 2 - 1).shape(), "[2, 3]");
  // py: torch.bernoulli(p).shape
  gives((rand_like(p) < p).to(f32).shape(), "[2, 3]");
  // py: torch.multinomial(weights, 4, replacement=True)
  gives(multinomial(weights, 4, true), "[1, 1, 1, 1]");
  // [/random]
}

}  // namespace
