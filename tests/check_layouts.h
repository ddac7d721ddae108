#pragma once
// Layouts for check_op: the same values, somewhere else in memory.

#include <array>
#include <limits>

#include "gradus/core/array/array.h"

namespace gradus::test {

enum class Layout { contiguous, transposed, sliced, offset, expanded_first, expanded_last, mixed };

inline const char* name(Layout layout) {
  constexpr std::array names = {"contiguous",     "transposed",    "sliced", "offset",
                                "expanded first", "expanded last", "mixed"};
  return names[static_cast<std::size_t>(layout)];
}

/// Every layout but the contiguous one.
inline const std::array<Layout, 6>& all_layouts() {
  static constexpr std::array layouts = {Layout::transposed,     Layout::sliced,        Layout::offset,
                                         Layout::expanded_first, Layout::expanded_last, Layout::mixed};
  return layouts;
}

/// New memory holding NaN (ints: -1): reading outside of a view shows.
inline Array poisoned(const Shape& shape, DType dtype) {
  const double poison = is_floating(dtype) ? std::numeric_limits<double>::quiet_NaN() : -1;
  return Array::full(shape, poison, dtype);
}

/// A view of other memory with the layout asked for and the values of x; expanded layouts repeat the first
/// value along their axis. Input number `which` of a mixed layout gets one of the others.
inline Array lay_out(const Array& x, Layout layout, std::size_t which = 0) {
  if (layout == Layout::mixed)
    layout = which % 3 == 0 ? Layout::contiguous : which % 3 == 1 ? Layout::transposed : Layout::offset;
  Array view;
  Array values = x;
  switch (layout) {
    case Layout::transposed: {
      Dims reversed;
      for (int i = x.dim() - 1; i >= 0; --i) reversed.push_back(i);
      view = poisoned(x.permute(reversed).shape(), x.dtype()).permute(reversed);
      break;
    }
    case Layout::sliced: {
      Shape doubled = x.shape();
      for (std::int64_t& size : doubled) size = 2 * size + 1;
      view = poisoned(doubled, x.dtype());
      for (int i = 0; i < x.dim(); ++i) view = view.slice(i, 1, {}, 2);
      break;
    }
    case Layout::offset:
      view = poisoned({x.numel() + 6}, x.dtype()).slice(0, 3, x.numel() + 3).reshape(x.shape());
      break;
    case Layout::expanded_first:
    case Layout::expanded_last: {
      if (x.dim() == 0 || x.numel() == 0) return x.clone();
      values = x.slice(layout == Layout::expanded_first ? 0 : -1, 0, 1);
      const Array compact = poisoned(values.shape(), x.dtype());
      compact.copy_(values);
      return compact.expand(x.shape());
    }
    default:
      view = Array::empty(x.shape(), x.dtype());
  }
  view.copy_(values);
  return view;
}

}  // namespace gradus::test
