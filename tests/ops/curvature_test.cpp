#include "gradus/ops/curvature.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "near.h"
#include "ops/by_differences.h"
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

TEST_CASE("hvp: exact, also of an idle parameter and v = 0; nothing changes") {
  // f = a^3 b + sin(b): H = [[6 a b, 3 a^2], [3 a^2, -sin(b)]]
  const Tensor a = leaf(tensor(1.5, f64)), b = leaf(tensor({0.7}, f64)), idle = leaf(ones({2}, f64));
  const auto f = [](const Tensor& p, const Tensor& q, const Tensor&) {
    return (p.pow(3) * q + sin(q)).sum();
  };
  a.set_grad(tensor(9.0, f64));
  const std::vector<Tensor> hv =
      hvp(f, {a, b, idle}, {tensor(2.0, f64), tensor({-3.0}, f64), ones({2}, f64)});
  CHECK(hv[0].item() == near(2 * 6 * 1.5 * 0.7 - 3 * 3 * 2.25, 1e-14));
  CHECK(hv[1].item() == near(2 * 3 * 2.25 + 3 * std::sin(0.7), 1e-14));
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
  CHECK(dot(u, hv) == near(dot(hvp(loss, w, u), v), 1e-10));
  CHECK(dot(u, hvp(loss, w, longer)) == near(1000 * dot(u, hv), 1e-10));
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

TEST_CASE("sharpness: in f32 as in f64, and as by differences; the loss is called once") {
  double in_f64 = 0;
  for (const DType dtype : {f64, f32}) {
    const DefaultDType guard(dtype);
    manual_seed(6);
    const nn::Sequential net(nn::Linear(3, 4), tanh, nn::Linear(4, 1));
    Generator generator(2);  // the same numbers for both dtypes
    for (const Tensor& w : net.parameters()) {
      const NoGrad no_grad;
      w.copy_(randn(w.shape(), generator, f64) * 0.5);
    }
    const Tensor x = randn({10, 3}, generator, f64).to(dtype), y = x.sum(-1, true).square();
    int calls = 0;
    const auto loss = [&] {
      ++calls;
      return mse_loss(net(x), y);
    };
    const std::vector<Tensor> w = net.parameters();
    const Sharpness found = sharpness(loss, w, {.iterations = 2000, .tolerance = 1e-4});
    CHECK(found.converged);
    CHECK(calls == 1);
    for (const Tensor& p : w) CHECK_FALSE(p.grad().defined());
    if (dtype == f32) {
      CHECK(found.value == near(in_f64, 1e-3));
      continue;
    }
    in_f64 = found.value;
    // Power iteration by differences, with H + 50, whose eigenvalues are all positive.
    std::vector<Tensor> v;
    for (const Tensor& p : w) v.push_back(randn(p.shape(), generator, f64));
    double length = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::vector<Tensor> hv = hvp_by_differences(loss, w, v);
      for (std::size_t j = 0; j < v.size(); ++j) v[j] = hv[j] + v[j] * 50;
      length = 0;
      for (const Tensor& part : v) length += part.square().sum().item();
      length = std::sqrt(length);
      for (Tensor& part : v) part = part / length;
    }
    CHECK(found.value == near(length - 50, 1e-3));
  }
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

TEST_CASE("sharpness: errors, which do not change the parameters") {
  const Tensor w = leaf(tensor({1.0, 2.0}, f64));
  const auto loss = [](const Tensor& p) { return p.square().sum(); };
  check_error([&] { sharpness([](const Tensor& a, const Tensor& b) { return (a * b).sum(); }, {w}); },
              "sharpness: the function takes 2 tensors, got 1 inputs");
  check_error([&] { sharpness(loss, {}); }, "sharpness: got no parameters");
  check_error([&] { sharpness([&] { return loss(w); }, {}); },
              "sharpness: got no parameters: pass model.parameters()");
  check_error([&] { sharpness(loss, {w}, {.iterations = 0}); },
              "sharpness: expects 1 or more iterations and a tolerance of 0 or more, got 0 and 0.001");
  const Tensor frozen = ones({2}, f64);
  check_error([&] { sharpness([&] { return loss(frozen); }, {frozen}); },
              "sharpness: parameter 0 [2] does not require grad: call requires_grad_() on it before the "
              "function uses it");
  CHECK(sharpness(loss, {frozen}).value == near(2));  // a function's inputs need not
  check_error([&] { sharpness([](const Tensor& p) { return p * 2; }, {w}); },
              "sharpness: expects a loss of one element, got shape [2]");
  check_error([&] { sharpness([](const Tensor& p) { return p.sum() * kNan; }, {w}); },
              "sharpness: the loss's gradients are not finite");
  check_error([&] { sharpness([](const Tensor& p) { return p.pow(1.5).sum(); }, {zeros({2}, f64)}); },
              "sharpness: the loss's second derivatives are not finite");
  check_error(
      [&] { sharpness([&](const Tensor&) { return loss(w).detach(); }, {w}); },
      "sharpness: the loss depends on no parameter: it was computed from others, under NoGrad, or from "
      "what detach() or item() returned");
  const Tensor other = leaf(w.detach().clone());
  CHECK_THROWS_WITH_AS(sharpness([&] { return loss(w); }, {other}),
                       doctest::Contains("sharpness: the loss depends on no parameter"), Error);
  CHECK(sharpness([](auto p) { return p.square().sum(); }, {w}).value == near(2));  // a generic lambda
  CHECK_THROWS_WITH(sharpness([](const Tensor&) -> Tensor { throw Error("inside"); }, {w}), "inside");
  CHECK(values(w) == Values{1, 2});
}

}  // namespace gradus::test
