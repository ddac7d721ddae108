// softmax over an axis of C values.           x, y, dx, dy: [..., C] with that axis last
//   y_i  = exp(x_i - m) / sum_j exp(x_j - m)     m = max_j x_j keeps exp from overflowing
//   dx_i = y_i (dy_i - sum_j dy_j y_j)           saves y only: x is not needed
//   kernels/body/softmax.h: softmax, softmax_grad
//
// log_softmax
//   y_i  = x_i - m - log(sum_j exp(x_j - m))
//   dx_i = dy_i - exp(y_i) sum_j dy_j            saves y only
//   kernels/body/softmax.h: log_softmax, log_softmax_grad
//
// A row of -inf alone has no softmax: it gives NaN (attention, which can mask a whole row, gives zeros).

#include "gradus/ops/norm/softmax_gradient.h"

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/array/rows.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/kernels/kernels.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

/// x with `axis` last, contiguous.
Array with_last(const Array& x, int axis) {
  return x.dim() == 0 ? x.reshape({1}) : x.transpose(axis, -1).contiguous();
}

/// The inverse, in the shape x had.
Array without_last(const Array& rows, int axis, const Shape& shape) {
  return shape.empty() ? rows.reshape(shape) : rows.transpose(axis, -1).contiguous();
}

template <class T>
struct RowKernels {
  void (*forward)(std::int64_t n, const T* x, T* y);
  void (*backward)(std::int64_t n, const T* y, const T* dy, T* dx);
};

enum class Form { plain, log };

template <class T>
RowKernels<T> row_kernels(Form form) {
  const auto& table = kernels::table<T>();
  if (form == Form::plain) return {table.softmax, table.softmax_grad};
  return {table.log_softmax, table.log_softmax_grad};
}

Array forward(const char* op, Form form, const Array& x) {
  Array y = Array::empty(x.shape(), x.dtype());
  dispatch_floating(op, x, [&]<class T>() {
    const RowPointers<const T> px(x);
    const RowPointers<T> py(y);
    const Rows rows(x.shape());
    rows.for_each(
        [&, run = row_kernels<T>(form).forward](std::int64_t i) { run(rows.columns, px[i], py[i]); });
  });
  return y;
}

Array backward(const char* op, Form form, const Array& y, const Array& dy) {
  Array dx = Array::empty(y.shape(), y.dtype());
  dispatch_floating(op, y, [&]<class T>() {
    const RowPointers<const T> py(y), pdy(dy);
    const RowPointers<T> pdx(dx);
    const Rows rows(y.shape());
    rows.for_each([&, run = row_kernels<T>(form).backward](std::int64_t i) {
      run(rows.columns, py[i], pdy[i], pdx[i]);
    });
  });
  return dx;
}

/// The same as a formula.
Tensor derivative(Form form, const Tensor& y, const Tensor& dy, const Axes& axis) {
  return form == Form::log ? dy - exp(y) * dy.sum(axis, true) : softmax_gradient(y, dy, axis);
}

Tensor softmax_op(const char* op, Form form, const Tensor& x, std::int64_t wanted) {
  const Array& values = operand(op, x);
  const int axis = normalize_axis(op, wanted, std::max(1, x.dim()));
  const Array y = forward(op, form, with_last(values, axis));
  return record(op, without_last(y, axis, x.shape()), {&x},
                [=, y = Saved(y), shape = x.shape()]<class V>(const V& dy, auto of) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {derivative(form, of.out(without_last(*y, axis, shape)), dy,
                                       shape.empty() ? Axes() : Axes(axis))};
                  else
                    return {without_last(backward(op, form, *y, with_last(dy, axis)), axis, shape)};
                });
}

}  // namespace

Array softmax_gradient(const Array& p, const Array& dp) {
  return backward("softmax", Form::plain, p, dp.contiguous());
}

Tensor softmax_gradient(const Tensor& p, const Tensor& dp, const Axes& axis) {
  return p * (dp - (dp * p).sum(axis, true));
}

Tensor softmax(const Tensor& x, Int axis) { return softmax_op("softmax", Form::plain, x, axis); }

Tensor log_softmax(const Tensor& x, Int axis) { return softmax_op("log_softmax", Form::log, x, axis); }

}  // namespace gradus
