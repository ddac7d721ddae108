// Elementwise arithmetic on Arrays: shapes are broadcast, layouts walked, and each contiguous run handed to a
// kernel. Chunks depend on shapes only, and every element is computed alone: neither threads nor layout
// change a result.
//
// Integers: +, -, * wrap around as in PyTorch; / is true division and gives default_dtype() (7 / 2 is 3.5),
// so that a ratio of two counts is never silently 0. Division by zero follows IEEE 754 in every dtype.

#include <algorithm>
#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/array/elementwise_loops.h"
#include "gradus/ops/array/elementwise_short_rows.h"

namespace gradus::array {

namespace {

using kernels::Binary;
using kernels::Unary;

using I = std::int64_t;

bool fits_kernel(std::int64_t stride) { return stride == 0 || stride == 1; }

/// y[i] = run(a[i], b[i]) over the broadcast of two shapes.
template <class T, class Out>
Array zip(const char* op, const Array& a, const Array& b, BinaryRun<T, Out> run) {
  const T *const pa = a.data<T>(), *const pb = b.data<T>();
  if (a.shape() == b.shape() && a.is_contiguous() && b.is_contiguous()) {
    const Array y = Array::empty(a.shape(), dtype_of<Out>);
    Out* const py = y.mutable_data<Out>();
    parallel_for(y.numel(), kGrain,
                 [=](I begin, I end) { run(end - begin, pa + begin, 1, pb + begin, 1, py + begin); });
    return y;
  }
  const Array y = Array::empty(broadcast_shapes(op, a.shape(), b.shape()), dtype_of<Out>);
  if (y.numel() == 0) return y;
  const StridedLoop<3> loop(y.shape(), {y.strides(), broadcast_strides(a.shape(), a.strides(), y.shape()),
                                        broadcast_strides(b.shape(), b.strides(), y.shape())});
  const I sa = loop.inner_stride(1), sb = loop.inner_stride(2);
  if (!fits_kernel(sa)) return zip<T, Out>(op, a.clone(), b, run);
  if (!fits_kernel(sb)) return zip<T, Out>(op, a, b.clone(), run);
  Out* const py = y.mutable_data<Out>();
  if (has_short_rows(loop)) {
    const auto one = [=](I n, I at, const T* ra, const T* rb) { run(n, ra, 1, rb, 1, py + at); };
    for_each_run(loop, one, pa, pb);
    return y;
  }
  loop.parallel(kGrain, [=](I n, const StridedLoop<3>::Offsets& at) {
    run(n, pa + at[1], sa, pb + at[2], sb, py + at[0]);
  });
  return y;
}

/// y = f(n, x, y) on contiguous chunks; x in another layout is copied and then worked on in place.
template <class T, class F>
Array map(const Array& x, F f) {
  const Array y = x.is_contiguous() ? Array::empty(x.shape(), x.dtype()) : x.clone();
  const T* const px = x.is_contiguous() ? x.data<T>() : y.data<T>();
  T* const py = y.mutable_data<T>();
  parallel_for(y.numel(), kGrain, [=](I begin, I end) { f(end - begin, px + begin, py + begin); });
  return y;
}

/// The same with a bool result.
template <class T, class F>
Array test(const Array& x, F f) {
  const Array dense = x.contiguous(), y = Array::empty(x.shape(), boolean);
  const T* const px = dense.data<T>();
  bool* const py = y.mutable_data<bool>();
  parallel_for(y.numel(), kGrain, [=](I begin, I end) { f(end - begin, px + begin, py + begin); });
  return y;
}

template <class T>
Array choose(const Array& condition, const Array& a, const Array& b) {
  const Shape shape =
      broadcast_shapes("where", condition.shape(), broadcast_shapes("where", a.shape(), b.shape()));
  const Array y = Array::empty(shape, dtype_of<T>);
  if (y.numel() == 0) return y;
  const auto strides = [&](const Array& x) { return broadcast_strides(x.shape(), x.strides(), shape); };
  const StridedLoop<4> loop(shape, {y.strides(), strides(condition), strides(a), strides(b)});
  const I sc = loop.inner_stride(1), sa = loop.inner_stride(2), sb = loop.inner_stride(3);
  if (!fits_kernel(sc)) return choose<T>(condition.clone(), a, b);
  if (!fits_kernel(sa)) return choose<T>(condition, a.clone(), b);
  if (!fits_kernel(sb)) return choose<T>(condition, a, b.clone());
  const bool* const pc = condition.data<bool>();
  const T *const pa = a.data<T>(), *const pb = b.data<T>();
  T* const py = y.mutable_data<T>();
  const auto run = [=](I n, const bool* c, I tc, const T* ra, I ta, const T* rb, I tb, T* ry) {
    if constexpr (std::is_floating_point_v<T>)
      kernels::table<T>().where(n, c, tc, ra, ta, rb, tb, ry);
    else
      for (I i = 0; i < n; ++i) ry[i] = c[i * tc] ? ra[i * ta] : rb[i * tb];
  };
  if (has_short_rows(loop)) {
    const auto one = [=](I n, I at, const bool* c, const T* ra, const T* rb) {
      run(n, c, 1, ra, 1, rb, 1, py + at);
    };
    for_each_run(loop, one, pc, pa, pb);
    return y;
  }
  loop.parallel(kGrain, [=](I n, const StridedLoop<4>::Offsets& at) {
    run(n, pc + at[1], sc, pa + at[2], sa, pb + at[3], sb, py + at[0]);
  });
  return y;
}

void check_defined(const char* op, const Array& x) {
  if (!x.defined()) fail_undefined(op);
}

/// y = run(x, number) or, reversed, run(number, x).
template <class T>
Array with_number(const Array& x, T number, bool reversed, BinaryRun<T, T> run) {
  return map<T>(x, [=](I n, const T* px, T* py) {
    if (reversed)
      run(n, &number, 0, px, 1, py);
    else
      run(n, px, 1, &number, 0, py);
  });
}

Array binary_number(const char* op, Binary f, const Array& x, Scalar number, bool reversed) {
  check_defined(op, x);
  if (f == Binary::pow) check_floating(op, x);
  if (f == Binary::div && x.dtype() == i64)
    return binary_number(op, f, x.to(f64), number, reversed).to(default_dtype());
  return dispatch_numbers(op, x, [&]<class T>() {
    return with_number<T>(x, element<T>(op, number, x.shape()), reversed, binary_run<T>(f));
  });
}

template <class T>
Array compare_number(const Array& x, kernels::Compare f, T number) {
  const auto run = compare_run<T>(f);
  return test<T>(x, [=](I n, const T* px, bool* y) { run(n, px, 1, &number, 0, y); });
}

}  // namespace

void check_operands(const char* op, const Array& a, const Array& b) {
  if (!a.defined()) fail_undefined(op, "the first operand");
  if (!b.defined()) fail_undefined(op, "the second operand");
  check_same_dtype(op, a, b);
}

Array unary(const char* op, kernels::Unary f, const Array& x) {
  check_defined(op, x);
  if (x.dtype() == i64) {
    if (f == Unary::neg) return binary_number(op, Binary::mul, x, -1, false);
    if (f == Unary::square) return mul(x, x);
    if (f == Unary::abs) return binary(op, Binary::maximum, x, neg(x));
    if (f == Unary::relu) return binary_number(op, Binary::maximum, x, 0, false);
    if (f == Unary::sign) return clamp(x, -1, 1);
    if (f == Unary::floor || f == Unary::ceil || f == Unary::round) return x.clone();
  }
  return dispatch_floating(
      op, x, [&]<class T>() { return map<T>(x, kernels::table<T>().unary[static_cast<int>(f)]); });
}

Array unary_grad(const char* op, kernels::UnaryGrad f, const Array& saved, const Array& dy) {
  return dispatch_floating(op, dy, [&]<class T>() {
    const auto run = kernels::table<T>().unary_grad[static_cast<int>(f)];
    const Array dense = saved.contiguous();
    const T* const ps = dense.data<T>();
    const Array dy_dense = dy.contiguous(), dx = Array::empty(dy.shape(), dy.dtype());
    const T* const pdy = dy_dense.data<T>();
    T* const pdx = dx.mutable_data<T>();
    parallel_for(dx.numel(), kGrain,
                 [=](I begin, I end) { run(end - begin, ps + begin, pdy + begin, pdx + begin); });
    return dx;
  });
}

Array binary(const char* op, kernels::Binary f, const Array& a, const Array& b) {
  check_operands(op, a, b);
  if (f == Binary::pow) check_floating(op, a);
  if (f == Binary::div && a.dtype() == i64) return binary(op, f, a.to(f64), b.to(f64)).to(default_dtype());
  return dispatch_numbers(op, a, [&]<class T>() { return zip<T, T>(op, a, b, binary_run<T>(f)); });
}

Array binary(const char* op, kernels::Binary f, const Array& a, Scalar b) {
  return binary_number(op, f, a, b, /*reversed=*/false);
}

Array binary(const char* op, kernels::Binary f, Scalar a, const Array& b) {
  return binary_number(op, f, b, a, /*reversed=*/true);
}

void update(const char* op, kernels::Binary f, const Array& x, const Array& y) {
  const bool overlaps = x.storage() == y.storage() && x.offset() != y.offset();
  if (overlaps || x.shape() != y.shape() || !x.is_contiguous() || !y.is_contiguous())
    return x.copy_(binary(op, f, x, y), op);
  x.storage().bump_version();
  dispatch_numbers(op, x, [&]<class T>() {
    const auto run = binary_run<T>(f);
    T* const px = x.mutable_data<T>();
    const T* const py = y.data<T>();
    parallel_for(x.numel(), kGrain,
                 [=](I begin, I end) { run(end - begin, px + begin, 1, py + begin, 1, px + begin); });
  });
}

void update(const char* op, kernels::Binary f, const Array& x, Scalar y) {
  if (!x.is_contiguous()) return x.copy_(binary(op, f, x, y), op);
  dispatch_numbers(op, x, [&]<class T>() {
    const T number = element<T>(op, y, x.shape());
    const auto run = binary_run<T>(f);
    x.storage().bump_version();
    T* const px = x.mutable_data<T>();
    parallel_for(x.numel(), kGrain,
                 [=](I begin, I end) { run(end - begin, px + begin, 1, &number, 0, px + begin); });
  });
}

Array compare(const char* op, kernels::Compare f, const Array& a, const Array& b) {
  check_operands(op, a, b);
  return dispatch_comparable(op, a, [&]<class T>() { return zip<T, bool>(op, a, b, compare_run<T>(f)); });
}

Array compare(const char* op, kernels::Compare f, const Array& a, Scalar b) {
  check_defined(op, a);
  if (is_floating(a.dtype()))
    return dispatch_floating(a.dtype(), [&]<class T>() { return compare_number<T>(a, f, b.as<T>()); });
  if (is_half(a.dtype())) detail::fail_half(op, a.dtype(), a.shape());
  // `index < 2.5` is exact: a number that is not an i64 lies between two of them, where f64 is exact, or
  // beyond them all (f64 rounds 2^63 - 1 up to 2^63).
  if (const auto whole = b.whole()) return compare_number<I>(a.to(i64), f, *whole);
  double number = b.as<double>();
  if (std::abs(number) >= 0x1p63) number = std::copysign(INFINITY, number);
  return compare_number<double>(a.to(f64), f, number);
}

Array where(const Array& condition, const Array& a, const Array& b) {
  check_operands("where", a, b);
  check_bool("where", condition);
  return dispatch_comparable("where", a, [&]<class T>() { return choose<T>(condition, a, b); });
}

Array clamp(const Array& x, Scalar low, Scalar high) {
  check_defined("clamp", x);
  if (x.dtype() == i64) {
    // The bounds become the outermost integers between them; beyond 2^63 there is no need for one.
    const double least = std::ceil(low.as<double>()), most = std::floor(high.as<double>());
    const I from = low.whole().value_or(least < -0x1p63  ? INT64_MIN
                                        : least < 0x1p63 ? static_cast<I>(least)
                                                         : INT64_MAX);
    const I to = high.whole().value_or(most >= 0x1p63    ? INT64_MAX
                                       : most >= -0x1p63 ? static_cast<I>(most)
                                                         : INT64_MIN);
    check(from <= to, "clamp: there is no i64 from {} to {}: convert the tensor {} with .to(f32)", low, high,
          x.shape());
    return map<I>(x, [=](I n, const I* px, I* py) {
      for (I i = 0; i < n; ++i) py[i] = std::min(std::max(px[i], from), to);
    });
  }
  return dispatch_floating("clamp", x, [&]<class T>() {
    const T from = low.as<T>(), to = high.as<T>();
    const auto run = kernels::table<T>().clamp;
    return map<T>(x, [=](I n, const T* px, T* py) { run(n, from, to, px, py); });
  });
}

Array add(const Array& a, const Array& b) { return binary("add", Binary::add, a, b); }
Array sub(const Array& a, const Array& b) { return binary("sub", Binary::sub, a, b); }
Array mul(const Array& a, const Array& b) { return binary("mul", Binary::mul, a, b); }
Array div(const Array& a, const Array& b) { return binary("div", Binary::div, a, b); }
Array mul(const Array& a, Scalar b) { return binary("mul", Binary::mul, a, b); }
Array neg(const Array& x) { return unary("neg", Unary::neg, x); }
Array scalar(Scalar value, DType dtype) { return Array::full({}, value, dtype, "scalar"); }
Array number_like(const char* op, Scalar value, const Array& x) {
  if (x.dtype() == i64) element<I>(op, value, x.shape());
  return Array::full({}, value, x.dtype(), op);
}

}  // namespace gradus::array
