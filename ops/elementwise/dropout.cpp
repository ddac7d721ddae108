// dropout (Srivastava et al. 2014).        x, y, dx, dy: any shape
//   y_i  = x_i / (1 - p) with probability 1 - p, else 0
//   dx_i = dy_i / (1 - p) for the same i, else 0
// Saves no mask but where the generator stood: number i of its stream says again which elements were kept.
// kernels/body/dropout.h: dropout (backward is the same on dy)

#include "gradus/core/array/detail/element.h"
#include "gradus/core/array/detail/strided.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tape/record.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/kernels/kernels.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

/// x with the elements dropped that `state` says.
Array drop(const Array& x, double p, const Generator::State& state) {
  if (p == 1) return Array::zeros(x.shape(), x.dtype());
  Array y = Array::empty(x.shape(), x.dtype());
  dispatch_floating("dropout", x, [&]<class T>() {
    const T* const px = x.data<T>();
    T* const py = y.mutable_data<T>();
    parallel_for(x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      kernels::table<T>().dropout(end - begin, p, state.seed, state.stream, state.offset,
                                  static_cast<std::uint64_t>(begin), px + begin, py + begin);
    });
  });
  return y;
}

/// The op, which is also its own derivative: it is linear, and dx is dy with the same elements dropped.
Tensor dropout(const Tensor& x, double p, const Generator::State& state) {
  return record("dropout", drop(x.array().contiguous(), p, state), {&x},
                [p, state]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {dropout(dy, p, state)};
                  else
                    return {drop(dy.contiguous(), p, state)};
                });
}

}  // namespace

Tensor dropout(const Tensor& x, double p, Flag training, Generator& generator) {
  floating_operand("dropout", x);
  check(p >= 0 && p <= 1, "dropout: expects a probability from 0 to 1, got {}", p);
  if (!training || p == 0) return x;
  const Generator::State state = generator.reserve(static_cast<std::uint64_t>(x.numel() + 3) / 4);
  return dropout(x, p, state);
}

Tensor dropout(const Tensor& x, double p, Flag training) {
  return dropout(x, p, training, default_generator());
}

}  // namespace gradus
