#pragma once
// Part of body.h. Elementwise kernels: a function of one Vec or two, and the loops that apply it to arrays.

namespace gradus::kernels {
namespace {

// The functions, beside those of body_math.h and body_activations.h.
template <class V>
V neg(V x) {
  return flip_sign(x, V(-0.0));
}
template <class V>
V absolute(V x) {
  return abs(x);
}
template <class V>
V square(V x) {
  return x * x;
}
template <class V>
V square_root(V x) {
  return sqrt(x);
}
template <class V>
V rsqrt(V x) {
  return V(1) / sqrt(x);
}
template <class V>
V reciprocal(V x) {
  return V(1) / x;
}
template <class V>
V relu(V x) {
  return max(V(0), x);
}  // NaN passes
template <class V>
V sign(V x) {
  return select(x > 0, V(1), select(x < 0, V(-1), x));
}  // NaN passes

template <class V>
V tanh_grad(V y, V dy) {
  return dy * (V(1) - y * y);
}
template <class V>
V sigmoid_grad(V y, V dy) {
  return dy * y * (V(1) - y);
}
template <class V>
V relu_grad(V y, V dy) {
  return select(y > 0, dy, V(0));
}
template <class V>
V erf_grad(V x, V dy) {
  return dy * V(1.1283791670955126) * exp_negative(neg(x * x));
}
template <class V>
V sin_grad(V x, V dy) {
  return dy * cos(x);
}
template <class V>
V cos_grad(V x, V dy) {
  return neg(dy * sin(x));
}

template <class V>
V add(V a, V b) {
  return a + b;
}
template <class V>
V sub(V a, V b) {
  return a - b;
}
template <class V>
V mul(V a, V b) {
  return a * b;
}
template <class V>
V div(V a, V b) {
  return a / b;
}
// max(b, a) is a where either is NaN: right when a is, so only b is left to look at.
template <class V>
V maximum(V a, V b) {
  return select(b != b, b, max(b, a));
}
template <class V>
V minimum(V a, V b) {
  return select(b != b, b, min(b, a));
}

template <class V>
typename V::Mask eq(V a, V b) {
  return a == b;
}
template <class V>
typename V::Mask ne(V a, V b) {
  return a != b;
}
template <class V>
typename V::Mask lt(V a, V b) {
  return a < b;
}
template <class V>
typename V::Mask le(V a, V b) {
  return a <= b;
}
template <class V>
typename V::Mask gt(V a, V b) {
  return a > b;
}
template <class V>
typename V::Mask ge(V a, V b) {
  return a >= b;
}

// An operand of stride 1 is read at each position, one of stride 0 once.
template <class V>
struct Each {
  const ScalarOf<V>* p;
  template <class At>
  V operator()(At at) const {
    return at.load(p);
  }
};
template <class V>
struct Same {
  V v;
  template <class At>
  V operator()(At) const {
    return v;
  }
};

/// use(operand a, operand b), for each of the four cases; n >= 1.
template <class V, class Use>
void with_operands(const ScalarOf<V>* a, I sa, const ScalarOf<V>* b, I sb, Use use) {
  if (sa != 0 && sb != 0) return use(Each<V>{a}, Each<V>{b});
  if (sa != 0) return use(Each<V>{a}, Same<V>{V(*b)});
  if (sb != 0) return use(Same<V>{V(*a)}, Each<V>{b});
  use(Same<V>{V(*a)}, Same<V>{V(*b)});
}

template <class V, V (*f)(V)>
void unary(I n, const ScalarOf<V>* x, ScalarOf<V>* y) {
  for_each<V>(n, [=](auto at) { at.store(y, f(at.load(x))); });
}

template <class V, V (*f)(V, V)>
void unary_grad(I n, const ScalarOf<V>* saved, const ScalarOf<V>* dy, ScalarOf<V>* dx) {
  for_each<V>(n, [=](auto at) { at.store(dx, f(at.load(saved), at.load(dy))); });
}

template <class V, V (*f)(V, V)>
void binary(I n, const ScalarOf<V>* a, I sa, const ScalarOf<V>* b, I sb, ScalarOf<V>* y) {
  if (n < 1) return;
  with_operands<V>(a, sa, b, sb, [=](auto a_of, auto b_of) {
    for_each<V>(n, [=](auto at) { at.store(y, f(a_of(at), b_of(at))); });
  });
}

template <class V, typename V::Mask (*f)(V, V)>
void compare(I n, const ScalarOf<V>* a, I sa, const ScalarOf<V>* b, I sb, bool* y) {
  if (n < 1) return;
  with_operands<V>(a, sa, b, sb, [=](auto a_of, auto b_of) {
    for_each<V>(n, [=](auto at) { at.store_mask(y, f(a_of(at), b_of(at))); });
  });
}

template <class V>
void where(I n, const bool* c, I sc, const ScalarOf<V>* a, I sa, const ScalarOf<V>* b, I sb, ScalarOf<V>* y) {
  if (n < 1) return;
  const bool all = sc == 0 && *c, none = sc == 0 && !*c;
  with_operands<V>(a, sa, b, sb, [=](auto a_of, auto b_of) {
    if (all) return for_each<V>(n, [=](auto at) { at.store(y, a_of(at)); });
    if (none) return for_each<V>(n, [=](auto at) { at.store(y, b_of(at)); });
    for_each<V>(n, [=](auto at) { at.store(y, select(at.load_mask(c), a_of(at), b_of(at))); });
  });
}

template <class V>
void axpy(I n, ScalarOf<V> alpha, const ScalarOf<V>* x, ScalarOf<V>* y) {
  for_each<V>(n, [=](auto at) { at.store(y, fma(V(alpha), at.load(x), at.load(y))); });
}

template <class V>
void multiply_by(I n, ScalarOf<V> alpha, const ScalarOf<V>* x, ScalarOf<V>* y) {
  for_each<V>(n, [=](auto at) { at.store(y, at.load(x) * V(alpha)); });
}

template <class V>
void mul_add(I n, const ScalarOf<V>* a, const ScalarOf<V>* b, ScalarOf<V>* y) {
  for_each<V>(n, [=](auto at) { at.store(y, fma(at.load(a), at.load(b), at.load(y))); });
}

template <class V>
void clamp(I n, ScalarOf<V> low, ScalarOf<V> high, const ScalarOf<V>* x, ScalarOf<V>* y) {
  for_each<V>(n, [=](auto at) { at.store(y, min(V(high), max(V(low), at.load(x)))); });
}

}  // namespace
}  // namespace gradus::kernels
