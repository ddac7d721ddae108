#pragma once
// Part of body.h. Elementwise kernels: the loops that apply the functions of body/functions.h to arrays.

namespace gradus::kernels {
namespace {

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

template <class V, Unary f>
void unary(I n, const ScalarOf<V>* x, ScalarOf<V>* y) {
  for_each<V>(n, [=](auto at) { at.store(y, value<f>(at.load(x))); });
}

template <class V, UnaryGrad f>
void unary_grad(I n, const ScalarOf<V>* saved, const ScalarOf<V>* dy, ScalarOf<V>* dx) {
  for_each<V>(n, [=](auto at) { at.store(dx, derivative<f>(at.load(saved), at.load(dy))); });
}

template <class V, Binary f>
void binary(I n, const ScalarOf<V>* a, I sa, const ScalarOf<V>* b, I sb, ScalarOf<V>* y) {
  if (n < 1) return;
  with_operands<V>(a, sa, b, sb, [=](auto a_of, auto b_of) {
    for_each<V>(n, [=](auto at) { at.store(y, value<f>(a_of(at), b_of(at))); });
  });
}

template <class V, Compare f>
void compare(I n, const ScalarOf<V>* a, I sa, const ScalarOf<V>* b, I sb, bool* y) {
  if (n < 1) return;
  with_operands<V>(a, sa, b, sb, [=](auto a_of, auto b_of) {
    for_each<V>(n, [=](auto at) { at.store_mask(y, value<f>(a_of(at), b_of(at))); });
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
