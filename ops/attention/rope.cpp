// Rotary position embedding (Su et al. 2021, "RoFormer", section 3.4.2).
//   x, y [..., T, D]; a pair (a, b) of channels of row t, angle = (offset + t) base^(-2i / channels)
//   y = (a cos - b sin, b cos + a sin)      a rotation, so backward turns dy by the opposite angle
// Saves nothing. Angles are advanced from row to row in f64 and recomputed at every 64th position, so a
// position's values do not depend on its row.

#include <cmath>
#include <vector>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tape/record.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using I = std::int64_t;

constexpr I kFresh = 64;  // positions from one computed afresh to the next

/// Cosines and sines of positions first .. first + count - 1, which lie between two multiples of kFresh.
template <class T>
class Turns {
 public:
  Turns(const RopeOptions& options, I channels, double direction)
      : half_(channels / 2), direction_(direction), speed_(static_cast<std::size_t>(half_)) {
    for (I i = 0; i < half_; ++i)
      at(speed_, i) = std::pow(options.base, -2 * static_cast<double>(i) / static_cast<double>(channels));
  }

  void compute(I first, I count) {
    cos_.resize(static_cast<std::size_t>(count * half_));
    sin_.resize(cos_.size());
    const I begin = first / kFresh * kFresh;
    for (I i = 0; i < half_; ++i) {
      const double speed = at(speed_, i);
      double c = std::cos(static_cast<double>(begin) * speed),
             s = std::sin(static_cast<double>(begin) * speed);
      const double step_c = std::cos(speed), step_s = std::sin(speed);
      for (I p = begin; p < first + count; ++p) {
        if (p >= first) {
          at(cos_, (p - first) * half_ + i) = static_cast<T>(c);
          at(sin_, (p - first) * half_ + i) = static_cast<T>(direction_ * s);
        }
        const double turned = c * step_c - s * step_s;
        s = s * step_c + c * step_s;
        c = turned;
      }
    }
  }
  const T* cos(I row) const { return cos_.data() + row * half_; }
  const T* sin(I row) const { return sin_.data() + row * half_; }

 private:
  template <class V>
  static auto& at(V& values, I i) {
    return values[static_cast<std::size_t>(i)];
  }
  I half_;
  double direction_;
  std::vector<double> speed_;
  std::vector<T> cos_, sin_;
};

template <class T>
void turn_row(RopePairs pairs, I half, const T* c, const T* s, const T* x, T* y) {
  if (pairs == RopePairs::halves) {
    for (I i = 0; i < half; ++i) {
      const T a = x[i], b = x[i + half];
      y[i] = a * c[i] - b * s[i];
      y[i + half] = b * c[i] + a * s[i];
    }
  } else {
    for (I i = 0; i < half; ++i) {
      const T a = x[2 * i], b = x[2 * i + 1];
      y[2 * i] = a * c[i] - b * s[i];
      y[2 * i + 1] = b * c[i] + a * s[i];
    }
  }
}

/// x as [B, H, T, D] with contiguous rows: a view where it is one already.
Array with_heads(const Array& x) {
  if (x.dim() == 4 && (x.size(3) <= 1 || x.strides()[3] == 1)) return x;
  return x.contiguous().reshape({1, -1, x.size(-2), x.size(-1)});
}

Array turn(const Array& any, const RopeOptions& options, I channels, double direction) {
  Array y = Array::empty(any.shape(), any.dtype());
  if (any.numel() == 0) return y;
  const Array x = with_heads(any);
  const I rows = x.size(2), width = x.size(3), heads = x.size(1), all = x.size(0) * heads;
  const I first_block = options.offset / kFresh,
          blocks = (options.offset + rows - 1) / kFresh - first_block + 1;
  dispatch_floating("rope", x, [&]<class T>() {
    const T* const px = x.data<T>();
    T* const py = y.mutable_data<T>();
    const auto run = [&](I from, I to) {
      Turns<T> turns(options, channels, direction);
      for (I block = from; block < to; ++block) {
        const I begin = std::max<I>(0, (first_block + block) * kFresh - options.offset);
        const I end = std::min<I>(rows, (first_block + block + 1) * kFresh - options.offset);
        turns.compute(options.offset + begin, end - begin);
        for (I head = 0; head < all; ++head)
          for (I t = begin; t < end; ++t) {
            const T* const row =
                px + head / heads * x.strides()[0] + head % heads * x.strides()[1] + t * x.strides()[2];
            T* const out = py + (head * rows + t) * width;
            turn_row(options.pairs, channels / 2, turns.cos(t - begin), turns.sin(t - begin), row, out);
            std::copy(row + channels, row + width, out + channels);
          }
      }
    };
    parallel_for(blocks, std::max<I>(1, 20'000 / (all * kFresh * width)), run);
  });
  return y;
}

/// Turned by `direction` times its angles: its gradient is turned back.
Tensor turned(const Tensor& x, const RopeOptions& options, I channels, double direction) {
  return record("rope", turn(x.array(), options, channels, direction), {&x},
                [=]<class V>(const V& dy, auto) -> GradsOf<V> {
                  if constexpr (kTaped<V>)
                    return {turned(dy, options, channels, -direction)};
                  else
                    return {turn(dy, options, channels, -direction)};
                });
}

}  // namespace

Tensor rope(const Tensor& x, const RopeOptions& options) {
  const char* const op = "rope";
  check_floating(op, operand(op, x));
  check(x.dim() >= 2, "{}: expects x [..., T, D], got {}", op, x.shape());
  const I width = x.size(-1), channels = options.channels == 0 ? width : options.channels;
  check(channels >= 0 && channels <= width && channels % 2 == 0,
        "{}: expects an even number of channels to turn, at most the {} of x {}, got {}", op, width,
        x.shape(), channels);
  check(options.offset >= 0, "{}: expects an offset of 0 or more, got {}", op, options.offset);
  check(options.base > 0 && std::isfinite(options.base), "{}: expects a base above 0, got {}", op,
        options.base);
  return turned(x, options, channels, 1);
}

}  // namespace gradus
