#pragma once
// Part of body.h. How a loop walks over n values with a Vec: whole vectors first, then the few that are left.
//
// A kernel is written as one lambda that takes a position. `at.load(p)` reads the lanes of array p that
// belong to the position, `at.store(p, v)` writes them. Whole and Tail are two types of position, so the
// compiler makes two versions of the lambda: one with plain loads, and one with masked loads that touch
// nothing past the end.

namespace gradus::kernels {
namespace {

using I = std::int64_t;

/// The type of a Vec's lanes.
template <class V>
using ScalarOf = typename V::Scalar;

/// a b + c as products take it: a Vec without a fused instruction defines its own.
template <class V>
V madd(V a, V b, V c) {
  return fma(a, b, c);
}

template <class V>
struct Whole {
  using T = ScalarOf<V>;
  using Mask = typename V::Mask;
  I i;
  V load(const T* p, double = 0) const { return V::load(p + i); }
  void store(T* p, V v) const { v.store(p + i); }
  Mask load_mask(const bool* p) const { return V::load_mask(p + i); }
  void store_mask(bool* p, Mask m) const { V::store_mask(m, p + i); }
};

template <class V>
struct Tail {
  using T = ScalarOf<V>;
  using Mask = typename V::Mask;
  I i, left;
  V load(const T* p, double fill = 0) const { return V::load(p + i, left, fill); }
  void store(T* p, V v) const { v.store(p + i, left); }
  Mask load_mask(const bool* p) const { return V::load_mask(p + i, left); }
  void store_mask(bool* p, Mask m) const { V::store_mask(m, p + i, left); }
};

/// Calls body(position) for 0 <= i < n.
template <class V, class Body>
[[gnu::always_inline]] inline void for_each(I n, Body body) {
  I i = 0;
  for (; i + V::lanes <= n; i += V::lanes) body(Whole<V>{i});
  if (i < n) body(Tail<V>{i, n - i});
}

// Sums. Adding a million floats one after another loses digits with every step: the error grows with the
// number of additions a value goes through. So four accumulators (which also hide the latency of an addition)
// take 32 steps at most, and the blocks made that way are joined pairwise, a tree of depth log2(n / block).
// The order depends on n only.
//
// What is accumulated (Acc) is a Vec, or anything that starts at its neutral element and has a join(a, b).

template <class T>
Vec<T> join(Vec<T> a, Vec<T> b) {
  return a + b;
}

/// Two sums at once.
template <class V>
struct Pair {
  V a, b;
  friend Pair join(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
};

/// step(acc, position) returns acc with the position's lanes taken in.
template <class V, class Acc, class Step>
[[gnu::always_inline]] inline Acc accumulate_block(I begin, I end, Step step) {
  Acc s0{}, s1{}, s2{}, s3{};
  I i = begin;
  for (; i + 4 * V::lanes <= end; i += 4 * V::lanes) {
    s0 = step(s0, Whole<V>{i});
    s1 = step(s1, Whole<V>{i + V::lanes});
    s2 = step(s2, Whole<V>{i + 2 * V::lanes});
    s3 = step(s3, Whole<V>{i + 3 * V::lanes});
  }
  for (; i + V::lanes <= end; i += V::lanes) s0 = step(s0, Whole<V>{i});
  if (i < end) s1 = step(s1, Tail<V>{i, end - i});
  return join(join(s0, s1), join(s2, s3));
}

template <class V>
constexpr I block_size = 4 * 32 * V::lanes;

template <class V, class Acc, class Step>
Acc accumulate_tree(I begin, I end, const Step& step) {
  const I n = end - begin;
  if (n <= block_size<V>) return accumulate_block<V, Acc>(begin, end, step);
  const I middle = begin + (n / 2 + block_size<V> - 1) / block_size<V> * block_size<V>;
  return join(accumulate_tree<V, Acc>(begin, middle, step), accumulate_tree<V, Acc>(middle, end, step));
}

/// Joins all of 0 <= i < n, lane by lane; sum(...) of it is the rest.
template <class V, class Acc = V, class Step>
[[gnu::always_inline]] inline Acc accumulate(I n, const Step& step) {
  if (n <= block_size<V>) return accumulate_block<V, Acc>(0, n, step);  // no call for short rows
  return accumulate_tree<V, Acc>(0, n, step);
}

}  // namespace
}  // namespace gradus::kernels
