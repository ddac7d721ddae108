#include "gradus/core/tape/detail/describe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "gradus/core/array/dispatch.h"
#include "gradus/core/detail/format.h"

namespace gradus {
namespace {

/// What is said of the values, those of an expanded axis counted once. They are read in place by this thread
/// alone: a debugger may have stopped another one that holds a lock.
struct Statistics {
  double least = std::numeric_limits<double>::infinity(), largest = -least;  // of the finite values
  double sum = 0;
  std::int64_t finite = 0, nan = 0, infinite = 0;

  void add(double value) {
    if (std::isnan(value)) {
      ++nan;
    } else if (std::isinf(value)) {
      ++infinite;
    } else {
      ++finite;
      sum += value;
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
  }

  std::string text() const {
    std::string text;
    if (finite > 0)
      text = fmt::format("min {:.6g}, max {:.6g}, mean {:.6g}", least, largest,
                         sum / static_cast<double>(finite));
    for (const auto& [count, name] : {std::pair(nan, "NaN"), std::pair(infinite, "infinite")})
      if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
    return text;
  }
};

template <class T>
void add_all(const T* first, const Array& x, int axis, Statistics& all) {
  if (axis == x.dim()) return all.add(static_cast<double>(detail::number(*first)));
  const std::int64_t stride = x.strides()[axis];
  const std::int64_t size = stride == 0 ? std::min<std::int64_t>(x.shape()[axis], 1) : x.shape()[axis];
  for (std::int64_t i = 0; i < size; ++i) add_all(first + i * stride, x, axis + 1, all);
}

Statistics statistics(const Array& x) {
  Statistics all;
  dispatch_all(x.dtype(), [&]<class T>() { add_all(x.data<T>(), x, 0, all); });
  return all;
}

/// "f32 [2, 3]", and how it lies in memory where that is not row by row.
std::string layout(const Array& x) {
  std::string text = fmt::format("{} {}", x.dtype(), x.shape());
  if (!x.is_contiguous()) text += fmt::format(", strides {}", x.strides());
  return text;
}

std::string tape(const Tensor& x) {
  const Node* const node = x.node().get();
  if (!node) return "";
  std::string text = node->is_leaf ? ", leaf" : ", from " + std::string(node->op);
  if (*node->label) text += (node->is_leaf ? " " : " in ") + std::string(node->label);
  return text + (node->requires_grad ? ", requires grad" : ", frozen");
}

std::string describe(const Array& x, const std::string& tape, const std::string& values) {
  if (!x.defined()) return values + "\n";
  std::string text = layout(x) + tape + "\n";
  if (x.numel() > 0) text += statistics(x).text() + "\n";
  return text + values + "\n";
}

template <class Text>
void print(const Text& text) noexcept {
  try {
    std::fputs(text().c_str(), stderr);
  } catch (...) {
    std::fputs("gradus::dump: no memory\n", stderr);
  }
}

}  // namespace

void print_description(const Tensor& x) noexcept {
  print([&] {
    std::string text = describe(x.array(), tape(x), to_string(x));
    if (x.is_leaf() && x.requires_grad()) {
      const Array& grad = x.node()->grad;
      text += "grad: " + (grad.defined() ? describe(grad, "", to_string(grad)) : "none\n");
    }
    return text;
  });
}

void print_description(const Array& x) noexcept {
  print([&] { return describe(x, "", to_string(x)); });
}

void print_description(const Shape& shape) noexcept {
  print([&] { return to_string(shape) + "\n"; });
}

}  // namespace gradus
