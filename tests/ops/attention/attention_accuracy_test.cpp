// The accuracy of attention's gradients for large scores: against f64, and compared with attention written
// out as matmul, softmax, matmul in the same dtype, whose softmax saves its weights.

#include <functional>

#include "attention_reference.h"

namespace gradus::test {
namespace {

using Attend = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;

/// Gradients of q, k and v, computed in `dtype`, as f64.
Tensors gradients(const Tensors& inputs, const Tensor& dy, DType dtype, const Attend& attend) {
  Tensors leaves;
  for (const Tensor& x : inputs) leaves.push_back(leaf(x.detach().to(dtype).clone()));
  attend(leaves[0], leaves[1], leaves[2]).backward(dy.to(dtype));
  Tensors grads;
  for (const Tensor& x : leaves) grads.push_back(x.grad().to(f64));
  return grads;
}

double distance(const Tensors& a, const Tensors& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).square().sum().item();
  return std::sqrt(sum);
}

/// Errors of the fused op and of the written-out one, relative to the gradient itself.
struct Errors {
  double fused, written_out;
};
Errors errors(const Tensors& inputs, const Tensor& dy, const AttentionOptions& options) {
  const Attend fused = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v, options);
  };
  const Attend written_out = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return reference(q, k, v, options);
  };
  const Tensors exact = gradients(inputs, dy, f64, written_out);
  Tensors zero;
  for (const Tensor& x : exact) zero.push_back(zeros_like(x));
  const double size = distance(exact, zero);
  return {distance(gradients(inputs, dy, f32, fused), exact) / size,
          distance(gradients(inputs, dy, f32, written_out), exact) / size};
}

}  // namespace

TEST_CASE("attention: a finite mask of any size on every key leaves each an equal share") {
  for (const std::int64_t keys : {4, 700})
    for (const DType dtype : {f32, f64})
      for (const double hidden : {-1e4, -1e6, -1e9, -1e20}) {
        CAPTURE(keys);
        CAPTURE(hidden);
        const Tensor q = leaf(zeros({1, 1, 3, 2}, dtype)), k = leaf(ones({1, 1, keys, 2}, dtype)),
                     v = leaf(ones({1, 1, keys, 1}, dtype));
        const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = full({3, keys}, hidden, dtype)});
        y.backward(ones({1, 1, 3, 1}, dtype));
        CHECK((v.grad() / (3.0 / static_cast<double>(keys)) - 1.0).abs().max().item() < 1e-6);
        CHECK((k.grad() == 0).all());
      }
}

TEST_CASE("attention: equal scores of 1e7 have the gradients of equal scores") {
  for (const std::int64_t keys : {4, 700}) {
    const double n = static_cast<double>(keys);
    const Tensor q = leaf(full({1, 1, 1, 1}, 1e7)), k = leaf(ones({1, 1, keys, 1})),
                 v = leaf(arange(keys).to(f32).reshape({1, 1, keys, 1}));
    scaled_dot_product_attention(q, k, v, {.scale = 1.0}).sum().backward();
    const Tensor expected = (v.detach() - (n - 1) / 2) * (1e7 / n);
    CHECK((k.grad() - expected).abs().max().item() <= 1e-5 * 1e7);
    CHECK((v.grad() * n - 1.0).abs().max().item() < 1e-6);
    CHECK(q.grad().abs().max().item() <= 1e-5 * n);
  }
}

TEST_CASE("attention: a row with one weight of 1 gives its scores no gradient") {
  manual_seed(0);
  for (const std::int64_t length : {5, 130, 1100}) {
    CAPTURE(length);
    const Shape shape{1, 2, length, 16};
    const Tensor x = randn(shape), v = randn(shape), dy = randn(shape);
    for (const bool window : {true, false}) {  // else each position is by far the nearest to itself
      const Tensor q = leaf(window ? x.clone() : x * 300.0 / norm(x, 2, -1, true)),
                   k = leaf(window ? randn(shape) : x * 300.0 / norm(x, 2, -1, true));
      scaled_dot_product_attention(q, k, v, {.causal = window, .window = window ? 1 : 0}).backward(dy);
      CHECK((q.grad() == 0).all());
      CHECK((k.grad() == 0).all());
    }
  }
}

TEST_CASE("attention: gradients as accurate as those of matmul, softmax, matmul, for scores of every size") {
  manual_seed(1);
  for (const std::int64_t length : {60, 700})
    for (const double offset : {0.0, 3.0})
      for (const double scale : {0.1, 1.0, 3.0, 10.0, 30.0}) {
        const Shape shape{1, 2, length, 16};
        const auto random = [&](double size) {  // keys and values alike in part, as trained ones are
          return (randn(shape) + randn({1, 2, 1, 16}) * offset) * size;
        };
        const Tensors inputs{random(scale), random(scale), random(1)};
        const Tensor dy = randn(shape);
        for (const AttentionOptions& options :
             {AttentionOptions{}, {.causal = true}, {.causal = true, .window = 600, .alibi = true}}) {
          const Errors error = errors(inputs, dy, options);
          CAPTURE(length);
          CAPTURE(offset);
          CAPTURE(scale);
          CHECK(error.fused <= 5 * error.written_out);
        }
      }
}

namespace {

/// q and k with whose scores the first key has about this share of each row's weight; heads of k and v are
/// shared.
Tensors with_a_first_key(double share, std::int64_t length, const Shape& heads_of_q_and_k) {
  const Tensor q = randn({2, heads_of_q_and_k[0], length, 16}) * 0.1 + 1,
               k = randn({2, heads_of_q_and_k[1], length, 16}) * 0.1,
               v = randn({2, heads_of_q_and_k[1], length, 16});
  k.slice(2, 0, 1) += std::log(static_cast<double>(length) * share / (1 - share)) * 4 / 16;
  return {q, k, v};
}

}  // namespace

TEST_CASE(
    "attention: a first key with most of the weight, before more than 512 others, has an exact gradient") {
  manual_seed(3);
  for (const double share : {0.5, 0.9, 0.99, 0.999})
    for (const bool causal : {false, true}) {
      CAPTURE(share);
      CAPTURE(causal);
      const Tensors inputs = with_a_first_key(share, 1100, {4, 2});
      const Tensor dy = randn({2, 4, 1100, 16});
      const AttentionOptions options{.causal = causal};
      const Attend fused = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        return scaled_dot_product_attention(q, k, v, options);
      };
      const Attend written_out = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        return reference(q, k, v, options);
      };
      const Tensors exact = gradients(inputs, dy, f64, written_out), got = gradients(inputs, dy, f32, fused),
                    other = gradients(inputs, dy, f32, written_out);
      CHECK(distance({got[0]}, {exact[0]}) <= 2 * distance({other[0]}, {exact[0]}));
      CHECK(distance(got, exact) <= 5 * distance(other, exact));
    }
}

TEST_CASE("attention: the gradients of a row's scores add up to 0, wherever its weight is") {
  manual_seed(4);
  for (const double share : {0.5, 0.9, 0.99, 0.999}) {
    CAPTURE(share);
    const Tensors inputs = with_a_first_key(share, 1100, {2, 2});
    const Tensor mask = leaf(zeros({2, 2, 70, 1100}));
    scaled_dot_product_attention(inputs[0].slice(2, 0, 70), inputs[1], inputs[2] + 100, {.mask = mask})
        .backward(randn({2, 2, 70, 16}));
    const Tensor sums = mask.grad().to(f64).sum(-1).abs(), sizes = mask.grad().to(f64).abs().sum(-1);
    CHECK((sums <= sizes * 1e-5).all());
  }
}

TEST_CASE("attention: rows that see more than 512 keys have gradients as accurate as PyTorch's") {
  struct Case {
    double size, k_offset, v_offset;
    bool causal;
    double pytorch[3];  // relative errors of dq, dk and dv for 513 keys
  };
  // python3 tests/ops/attention/attention_errors.py
  const Case cases[] = {
      {0.03, 0, 0, false, {3.3e-07, 3.4e-07, 3.4e-07}},    {0.03, 0, 0, true, {2.3e-07, 3.9e-07, 3.8e-07}},
      {0.03, 0, 1000, false, {0.00016, 0.00016, 3.4e-07}}, {0.03, 0, 1000, true, {0.00015, 0.00016, 3.8e-07}},
      {0.03, 1000, 0, false, {0.011, 4.5e-06, 5.1e-06}},   {0.03, 1000, 0, true, {0.0055, 3.9e-06, 3.6e-06}},
      {0.03, 1000, 1000, false, {59, 0.00016, 5.1e-06}},   {0.03, 1000, 1000, true, {24, 0.00016, 3.6e-06}},
      {1, 0, 1000, false, {0.00021, 0.00016, 4.6e-07}},    {1, 0, 1000, true, {0.00018, 0.00017, 4.3e-07}},
  };
  manual_seed(2);
  for (const std::int64_t length : {513, 560, 650, 1100})
    for (const Case& c : cases) {
      const Shape shape{1, 2, length, 64};
      const Tensors inputs{randn(shape) * c.size, randn(shape) * c.size + c.k_offset,
                           randn(shape) + c.v_offset};
      const Tensor dy = randn(shape);
      const Attend attend = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        return scaled_dot_product_attention(q, k, v, {.causal = c.causal});
      };
      const Tensors exact = gradients(inputs, dy, f64, attend), got = gradients(inputs, dy, f32, attend);
      CAPTURE(length);
      CAPTURE(c.size);
      CAPTURE(c.k_offset);
      CAPTURE(c.v_offset);
      CAPTURE(c.causal);
      for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(i);
        CHECK(distance({got[i]}, {exact[i]}) <=
              5 * c.pytorch[i] * distance({exact[i]}, {zeros_like(exact[i])}));
      }
    }
}

}  // namespace gradus::test
