#include "gradus/ops/curvature.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "threads_guard.h"
#include "values.h"

namespace gradus::test {
namespace {

/// w^T diag(d) w / 2, whose Hessian is diag(d).
Tensor bowl(const Tensor& w, const Tensor& d) { return (w * w * d).sum() * 0.5; }

double top(const Tensor& d, const SharpnessOptions& options = {.iterations = 500, .tolerance = 1e-7}) {
  const Tensor w = leaf(full({d.numel()}, 0.3, f64));
  const Sharpness found = sharpness([&] { return bowl(w, d); }, {w}, options);
  CHECK(found.converged);
  CHECK(values(w) == Values(static_cast<std::size_t>(d.numel()), 0.3));
  CHECK_FALSE(w.grad().defined());
  return found.value;
}

}  // namespace

TEST_CASE("hvp: the Hessian computed by hand, of several parameters") {
  // f = a^3 b + sin(b): H = [[6 a b, 3 a^2], [3 a^2, -sin(b)]]
  const Tensor a = leaf(tensor(1.5, f64)), b = leaf(tensor({0.7}, f64)), idle = leaf(ones({2}, f64));
  const auto f = [](const Tensor& p, const Tensor& q, const Tensor&) {
    return (p.pow(3) * q + sin(q)).sum();
  };
  a.set_grad(tensor(9.0, f64));
  const std::vector<Tensor> hv =
      hvp(f, {a, b, idle}, {tensor(2.0, f64), tensor({-3.0}, f64), ones({2}, f64)});
  CHECK(hv[0].item() == doctest::Approx(2 * 6 * 1.5 * 0.7 - 3 * 3 * 2.25).epsilon(1e-8));
  CHECK(hv[1].item() == doctest::Approx(2 * 3 * 2.25 + 3 * std::sin(0.7)).epsilon(1e-8));
  CHECK(values(hv[2]) == Values{0, 0});
  CHECK(a.item() == 1.5);
  CHECK(b.item() == 0.7);
  CHECK(a.grad().item() == 9);
  CHECK_FALSE(b.grad().defined());
  const std::vector<Tensor> zero = hvp(f, {a, b, idle}, {zeros({}, f64), zeros({1}, f64), zeros({2}, f64)});
  CHECK(zero[0].item() == 0);
}

TEST_CASE("hvp: symmetric and linear for a Transformer, with dropout, for v of any length") {
  const DefaultDType guard(f64);
  manual_seed(3);
  const nn::GPT gpt(
      {.vocab = 7, .context = 4, .layers = 1, .block = {.d_model = 8, .heads = 2, .dropout = 0.2}});
  const Tensor ids = randint(0, 7, {2, 4}), next = randint(0, 7, {2, 4});
  const std::vector<Tensor> w = gpt.parameters();
  std::vector<Tensor> u, v, longer;
  for (const Tensor& p : w) {
    u.push_back(randn(p.shape()));
    v.push_back(randn(p.shape()));
    longer.push_back(v.back() * 1000);
  }
  const auto dot = [](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    double total = 0;
    for (std::size_t i = 0; i < a.size(); ++i) total += (a[i] * b[i]).sum().item();
    return total;
  };
  const Generator::State state = default_generator().state();
  const auto loss = [&] { return gpt.loss(ids, next); };
  const std::vector<Tensor> hv = hvp(loss, w, v);
  CHECK(dot(u, hv) == doctest::Approx(dot(hvp(loss, w, u), v)).epsilon(1e-6));
  CHECK(dot(u, hvp(loss, w, longer)) == doctest::Approx(1000 * dot(u, hv)).epsilon(1e-9));
  CHECK(default_generator().state() == state);
}

TEST_CASE("sharpness: the largest eigenvalue, also where a negative one is larger in size") {
  CHECK(top(tensor({1.0, 5.0, 3.0}, f64)) == near(5, 1e-8));
  CHECK(top(tensor({2.0, -7.0, 1.0}, f64)) == near(2, 1e-8));
  CHECK(top(tensor({-1.0, -3.0}, f64)) == near(-1, 1e-8));
  CHECK(top(tensor({4.0}, f64)) == near(4, 1e-8));
  CHECK(top(zeros({3}, f64)) == 0);
  CHECK(top(tensor({1e-6, 3e-6}, f64)) == near(3e-6, 1e-6));
}

TEST_CASE("sharpness: eigenvalues of either sign and the same size") {
  const auto of = [](const Tensor& eigenvalues) {
    const Tensor w = leaf(zeros(eigenvalues.shape(), f64));
    return sharpness([&] { return 0.5 * (w * w * eigenvalues).sum(); }, {w});
  };
  for (const Tensor& eigenvalues : {tensor({1.0, -1.0}, f64), tensor({2.0, -2.0, 0.0}, f64),
                                    tensor({3.0, -3.0, 1.0, -1.0}, f64), tensor({1.0, -1.001}, f64)}) {
    const Sharpness found = of(eigenvalues);
    CHECK(found.converged);
    CHECK(found.value == doctest::Approx(eigenvalues.max().item()).epsilon(1e-3));
  }
  // Two linear layers at zero: the Hessian couples them, with eigenvalues in pairs.
  manual_seed(0);
  const Tensor x = randn({20, 3}, f64), y = randn({20, 2}, f64);
  const Tensor a = leaf(zeros({4, 3}, f64)), b = leaf(zeros({2, 4}, f64));
  const Sharpness found = sharpness([&] { return mse_loss(linear(linear(x, a), b), y); }, {a, b});
  const Tensor coupling = matmul(y.t(), x) / 20;  // of b a: d2 loss / da db, both times 2 / 2
  const Tensor gram = matmul(coupling, coupling.t());
  const double trace = gram[0][0].item() + gram[1][1].item();
  const double det = gram[0][0].item() * gram[1][1].item() - gram[0][1].item() * gram[1][0].item();
  const double largest = std::sqrt((trace + std::sqrt(trace * trace - 4 * det)) / 2);  // singular value
  CHECK(found.converged);
  CHECK(found.value == doctest::Approx(largest).epsilon(2e-3));
}

TEST_CASE("sharpness: close eigenvalues: the residual says how far one of them may be") {
  const Tensor d = tensor({1.0, 0.998, 0.995, 0.1}, f64), w = leaf(full({4}, 0.3, f64));
  for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
    const Sharpness found =
        sharpness([&] { return bowl(w, d); }, {w}, {.iterations = 9999, .tolerance = tolerance});
    CHECK(found.converged);
    CHECK(found.residual <= tolerance * found.value);
    double off = kInf;
    for (const double eigenvalue : d.to_vector<double>())
      off = std::min(off, std::abs(found.value - eigenvalue));
    CHECK(off <= found.residual);
  }
  const Sharpness few = sharpness([&] { return bowl(w, d); }, {w}, {.iterations = 20, .tolerance = 1e-5});
  CHECK_FALSE(few.converged);  // though its value changes by less than that
  CHECK(few.value < 0.9999);
}

TEST_CASE("sharpness: of a regression, that of its design matrix; the same bits from the same generator") {
  manual_seed(5);
  const Tensor x = randn({20, 4}, f64), t = randn({20}, f64), w = leaf(randn({4}, f64));
  const auto loss = [&](const Tensor& p) { return mse_loss(matmul(x, p), t); };
  // X^T X 2 / n, its largest eigenvalue by squaring the matrix.
  const Tensor h = matmul(x.t(), x) * 0.1;
  Tensor power = h;
  for (int i = 0; i < 12; ++i) {
    power = matmul(power, power);
    power = power / power.norm();
  }
  const double largest = matmul(power, h).norm().item() / power.norm().item();
  const SharpnessOptions options = {.iterations = 1000, .tolerance = 1e-7, .generator = Generator(8)};
  const Sharpness found = sharpness(loss, {w}, options);
  CHECK(found.value == doctest::Approx(largest).epsilon(1e-7));
  CHECK(found.iterations > 2);
  for (const int threads : {1, 3}) {
    const ThreadsGuard guard(threads);
    CHECK(sharpness(loss, {w}, options).value == found.value);
  }
  const Sharpness hasty = sharpness(loss, {w}, {.iterations = 2, .tolerance = 0});
  CHECK_FALSE(hasty.converged);
  CHECK(hasty.residual > 0);
  CHECK(hasty.iterations == 2);
}

TEST_CASE("hvp, sharpness: errors, which do not change the parameters") {
  const Tensor w = leaf(tensor({1.0, 2.0}, f64));
  const auto loss = [](const Tensor& p) { return p.square().sum(); };
  check_error([&] { hvp(loss, {w}, {}); }, "hvp: expects one v for each of the 1 parameters, got 0");
  check_error([&] { hvp(loss, {w}, {ones({3}, f64)}); },
              "hvp: expects v 0 of f64 [2], as its parameter is, got f64 [3]");
  check_error([&] { sharpness([](const Tensor& a, const Tensor& b) { return (a * b).sum(); }, {w}); },
              "sharpness: the function takes 2 tensors, got 1 inputs");
  check_error([&] { hvp(loss, {w}, {Tensor()}); }, "hvp: v 0 is an undefined tensor");
  check_error([&] { hvp(loss, {w}, {full({2}, kInf, f64)}); },
              "hvp: expects a finite v, got one of length inf");
  check_error([&] { hvp(loss, {w}, {ones({2}, f64)}, -1); }, "hvp: expects an eps above 0, got -1");
  check_error([&] { sharpness(loss, {}); }, "sharpness: got no parameters: pass model.parameters()");
  check_error([&] { sharpness(loss, {w}, {.iterations = 0}); },
              "sharpness: expects 1 or more iterations and a tolerance of 0 or more, got 0 and 0.001");
  check_error([&] { sharpness(loss, {leaf(ones({2}))}); },
              "sharpness: parameter 0 [2] is f32, whose rounding differences would magnify: make it f64, as "
              "DefaultDType does for a model made in its scope");
  check_error([&] { sharpness(loss, {ones({2}, f64)}); },
              "sharpness: parameter 0 [2] does not require grad: call requires_grad_() on it");
  check_error([&] { sharpness([](const Tensor& p) { return p * 2; }, {w}); },
              "sharpness: expects a loss of one element, got shape [2]");
  check_error([&] { sharpness([](const Tensor& p) { return p.sum() * kNan; }, {w}); },
              "sharpness: the loss's gradients are not finite");
  CHECK_THROWS_WITH(sharpness([](const Tensor&) -> Tensor { throw Error("inside"); }, {w}), "inside");
  CHECK(values(w) == Values{1, 2});
}

}  // namespace gradus::test
