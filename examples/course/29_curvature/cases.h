struct Answer {
  Tensor (*product)(const Loss& loss, const Tensor& w, const Tensor& v);
  double (*top)(const Loss& loss, const Tensor& w, int steps);
  double (*rate)(double s, double momentum);
};
#define ANSWER(FROM) \
  { FROM::product, FROM::top_curvature, FROM::largest_rate }

namespace {
/// Half of sum_i h_i w_i^2, whose Hessian has h on its diagonal.
Loss bowl(const Tensor& h) {
  return [h](const Tensor& w) { return (h * w * w).sum() / 2; };
}
}  // namespace

CASE("the product with a matrix", "Differentiate the number sum(g v), not g itself.") {
  const Tensor a = tensor({{3.0, 1.0}, {1.0, 2.0}});
  const Loss loss = [a](const Tensor& w) { return (w * matmul(a, w)).sum() / 2; };
  const Tensor w = randn({2}).requires_grad_();
  near("H v for v = [1, -1]", answer.product(loss, w, tensor({1.0, -1.0})), tensor({2.0, -1.0}));
}
CASE("the Hessian is that at w", "g must be on the tape: create_graph.") {
  const Loss loss = [](const Tensor& w) { return w.pow(4).sum() / 12; };  // H = w^2, on the diagonal
  const Tensor w = randn({2, 3}).requires_grad_(), v = randn({2, 3});
  near("H v", answer.product(loss, w, v), w.detach().square() * v);
}
CASE("v is a constant", "Here v is w: without v.detach() its own gradient, g, is added.") {
  const Tensor w = (randn({4}) + 3).requires_grad_();
  near("H w", answer.product(bowl(tensor(3.0)), w, w), 3 * w.detach());
}
CASE("nothing is added to w's grad", "grad() returns gradients; backward() adds them to w.grad().") {
  const Tensor w = randn({3}).requires_grad_();
  answer.product(bowl(tensor(2.0)), w, randn({3}));
  expect(!w.grad().defined(), "w.grad() has been filled");
}
CASE("the curvature has a sign", "s = v . H v, not |H v|: it is negative on a ridge.") {
  const Tensor w = randn({3}).requires_grad_();
  near("s for a Hessian with the diagonal 1, -5, 2", answer.top(bowl(tensor({1.0, -5.0, 2.0})), w, 60), -5,
       1e-6);
}
CASE("many steps", "Divide v by its length in every step: H^150 v is too large for any number.") {
  const Tensor w = randn({2}).requires_grad_();
  near("s for a Hessian with the diagonal 1000, 1", answer.top(bowl(tensor({1000.0, 1.0})), w, 150), 1000,
       1e-6);
}
CASE("v is not 1 everywhere",
     "A v without a part along the eigenvector of the largest eigenvalue does not find it.") {
  const Tensor a = tensor({{3.0, -2.0}, {-2.0, 3.0}});  // 5 along [1, -1], 1 along [1, 1]
  const Loss loss = [a](const Tensor& w) { return (w * matmul(a, w)).sum() / 2; };
  near("s", answer.top(loss, randn({2}).requires_grad_(), 12), 5, 1e-6);
}
CASE("the largest rate is 2 / s", "A step multiplies by 1 - rate s: above 2 / s its size is above 1.") {
  near("the largest rate for s = 8", answer.rate(8, 0), 0.25);
}
CASE("momentum raises it", "2 (1 + momentum) / s.") {
  near("the largest rate for s = 5 and momentum 0.5", answer.rate(5, 0.5), 0.6);
}
