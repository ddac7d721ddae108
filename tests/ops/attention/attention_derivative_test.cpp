// Gradients of attention's gradients, against those of attention written out.

#include "attention_reference.h"
#include "gradus/core/tape/grad.h"

namespace gradus::test {
namespace {

/// The gradients of `inputs`, and those of a function of them, with respect to the inputs and to dy.
Tensors two_orders(const Tensors& inputs, const Tensor& dy, const std::function<Tensor()>& call) {
  manual_seed(5);  // dropout draws the same numbers
  const TensorList first = grad(call(), inputs, {.grad_output = dy, .create_graph = true});
  Tensors results, all = inputs;
  all.push_back(dy);
  Tensor size = zeros({}, f64);
  for (const Tensor& dx : first) {
    results.push_back(dx.detach());
    size = size + (dx * dx * dx).sum() + (dx * sin(counting(dx.shape(), f64) * 0.1)).sum();
  }
  const TensorList second = grad(size, all, {.allow_unused = true});  // dv does not depend on v
  for (std::size_t i = 0; i < all.size(); ++i)
    results.push_back(second[i].defined() ? second[i] : zeros_like(all[i]));
  return results;
}

void check_two_orders(const Sizes& z, const AttentionOptions& options, std::int64_t kv_heads = 0) {
  const std::int64_t heads = kv_heads > 0 ? kv_heads : z.h;
  const Tensor q = leaf(randn({z.b, z.h, z.tq, z.d}, f64)), k = leaf(randn({z.b, heads, z.tk, z.d}, f64)),
               v = leaf(randn({z.b, heads, z.tk, z.dv}, f64)), dy = leaf(randn({z.b, z.h, z.tq, z.dv}, f64));
  Tensors inputs{q, k, v};
  if (options.mask.requires_grad()) inputs.push_back(options.mask);
  const Tensors got = two_orders(inputs, dy, [&] { return scaled_dot_product_attention(q, k, v, options); });
  const Tensors expected = two_orders(inputs, dy, [&] {
    return matmul(dropout(reference_weights(q, k, options), options.dropout), shared(v, z.h));
  });
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    check_close(got[i], expected[i], 1e-11);
  }
}

TEST_CASE("attention: gradients of gradients, with every option") {
  manual_seed(10);
  const Sizes z{2, 4, 5, 7, 3, 2};
  check_two_orders(z, {});
  check_two_orders(z, {.causal = true, .scale = 0.4});
  check_two_orders(z, {.dropout = 0.4});
  check_two_orders(z, {.causal = true, .dropout = 0.3, .window = 3, .alibi = true}, 2);
  check_two_orders(z, {.window = 2, .alibi = true}, 1);
  check_two_orders(z, {.mask = tril(ones({5, 7}), 1) > 0, .dropout = 0.2}, 2);
  for (const Shape& mask : {Shape{2, 4, 5, 7}, {5, 7}, {2, 1, 1, 7}, {4, 5, 1}, {7}, {}})
    check_two_orders(z, {.causal = true, .mask = leaf(randn(mask, f64)), .dropout = 0.2});
  check_two_orders(z, {.mask = leaf(randn({7, 5}, f64).transpose(0, 1).detach())});
  check_two_orders({1, 2, 66, 600, 3, 2}, {.causal = true, .dropout = 0.5});
}

TEST_CASE("attention: a row that sees no key has gradients of gradients of 0") {
  manual_seed(11);
  const Tensor q = leaf(randn({1, 2, 3, 4}, f64)), k = leaf(randn({1, 2, 5, 4}, f64)),
               v = leaf(randn({1, 2, 5, 4}, f64)), dy = leaf(randn({1, 2, 3, 4}, f64));
  for (const Tensor& mask : {tensor({{true}, {false}, {true}}), tensor({{0.0}, {-kInf}, {0.0}}, f64)}) {
    const Tensors got =
        two_orders({q, k, v}, dy, [&] { return scaled_dot_product_attention(q, k, v, {.mask = mask}); });
    for (const Tensor& x : got) CHECK(x.isfinite().all());
    CHECK((got[0].select(2, 1) == 0).all());
    CHECK((got[3].select(2, 1) == 0).all());
    CHECK((got[3].select(2, 0) != 0).all());
  }
}

TEST_CASE("attention: gradients of gradients of q, k and v side by side") {
  manual_seed(12);
  const Tensor x = leaf(randn({2, 5, 24}, f64)), dy = leaf(randn({2, 5, 8}, f64));
  const Tensor mask = leaf(randn({2, 1, 5}, f64));
  const auto heads = [&](std::int64_t part) {
    return x.slice(2, part * 8, part * 8 + 8).reshape({2, 5, 2, 4}).transpose(1, 2);
  };
  const AttentionOptions options{.causal = true, .mask = mask, .dropout = 0.3};
  const Tensors got = two_orders({x, mask}, dy, [&] { return self_attention_packed(x, 2, options); });
  const Tensors expected = two_orders({x, mask}, dy, [&] {
    return scaled_dot_product_attention(heads(0), heads(1), heads(2), options)
        .transpose(1, 2)
        .reshape({2, 5, 8});
  });
  for (std::size_t i = 0; i < got.size(); ++i) check_close(got[i], expected[i], 1e-11);
}

TEST_CASE("attention: one operand alone, or one tensor in every place, and its gradient's gradient") {
  manual_seed(13);
  const Tensors parts{leaf(randn({1, 2, 4, 3}, f64)), leaf(randn({1, 2, 4, 3}, f64)),
                      leaf(randn({1, 2, 4, 3}, f64))};
  const Tensor dy = leaf(randn({1, 2, 4, 3}, f64));
  const auto check = [&](const Tensor& input, const Tensors& x) {
    const auto run = [&](const auto& attend) {
      return two_orders({input}, dy, [&] { return attend(x[0], x[1], x[2], AttentionOptions{}); });
    };
    const Tensors got = run(scaled_dot_product_attention), expected = run(reference);
    for (std::size_t i = 0; i < got.size(); ++i) check_close(got[i], expected[i], 1e-11);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    Tensors x{parts[0].detach(), parts[1].detach(), parts[2].detach()};
    x[i] = parts[i];
    check(parts[i], x);
  }
  check(parts[0], {parts[0], parts[0], parts[0]});
}

}  // namespace
}  // namespace gradus::test
