// Tensors as text, in PyTorch's layout: 4 decimals, or scientific notation where the numbers differ by more
// than a factor of 1000 or leave 1e-4 .. 1e8, or "1." where all are whole; columns as wide as the widest
// finite number; lines of 80 characters; the first and last 3 of an axis where there are more than 1000
// elements.

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace {

constexpr std::int64_t kLine = 80;         // characters
constexpr std::int64_t kThreshold = 1000;  // elements: above, axes are summarised
constexpr std::int64_t kEdge = 3;          // elements kept at each end of a summarised axis

/// How every element of one tensor is written.
struct Style {
  enum class Kind { whole, decimals, scientific, integer, boolean };
  Kind kind = Kind::whole;
  std::size_t width = 1;

  std::string number(double value) const {
    if (std::isnan(value)) return "nan";  // x86 makes NaNs with the sign bit set
    if (kind == Kind::scientific) return fmt::format("{:.4e}", value);
    if (kind == Kind::decimals) return fmt::format("{:.4f}", value);
    return fmt::format("{:.0f}{}", value, std::isfinite(value) ? "." : "");
  }
  /// The element of a 0-d array.
  std::string unpadded(const Array& element) const {
    if (kind == Kind::boolean) return *element.data<bool>() ? "True" : "False";
    if (kind == Kind::integer) return fmt::format("{}", *element.data<std::int64_t>());
    return number(element.item());
  }
  std::string operator()(const Array& element) const {
    return fmt::format("{:>{}}", unpadded(element), width);
  }
};

bool cuts(std::int64_t size, bool summarise) { return summarise && size > 2 * kEdge; }

/// f(element) for every element shown, in order.
template <class F>
void for_each_shown(const Array& x, bool summarise, const F& f) {
  if (x.dim() == 0) {
    f(x);
    return;
  }
  const std::int64_t size = x.shape()[0];
  for (std::int64_t i = 0; i < size; ++i) {
    if (i == kEdge && cuts(size, summarise)) i = size - kEdge;
    for_each_shown(x.select(0, i), summarise, f);
  }
}

Style floating_style(const Array& x, bool summarise) {
  std::vector<double> values;  // infinities, NaN and 0 do not count
  for_each_shown(x, summarise, [&](const Array& element) {
    const double value = element.item();
    if (std::isfinite(value) && value != 0) values.push_back(value);
  });
  Style style;
  if (values.empty()) return style;
  const auto [low, high] = std::minmax_element(values.begin(), values.end(),
                                               [](double a, double b) { return std::abs(a) < std::abs(b); });
  const double smallest = std::abs(*low), largest = std::abs(*high);
  const bool whole = std::all_of(values.begin(), values.end(), [](double v) { return v == std::ceil(v); });
  if (largest / smallest > 1000 || largest > 1e8 || (!whole && smallest < 1e-4))
    style.kind = Style::Kind::scientific;
  else if (!whole)
    style.kind = Style::Kind::decimals;
  for (const double value : values) style.width = std::max(style.width, style.number(value).size());
  return style;
}

Style choose_style(const Array& x, bool summarise) {
  if (is_floating(x.dtype()) || is_half(x.dtype())) return floating_style(x, summarise);
  Style style;
  style.kind = x.dtype() == boolean ? Style::Kind::boolean : Style::Kind::integer;
  for_each_shown(x, summarise, [&](const Array& element) {
    style.width = std::max(style.width, style.unpadded(element).size());
  });
  return style;
}

/// The values of a 1-d array, as many per line as fit.
std::string vector_text(const Array& x, std::size_t indent, bool summarise, const Style& style) {
  std::vector<std::string> items;
  const std::int64_t size = x.shape()[0];
  for (std::int64_t i = 0; i < size; ++i) {
    if (i == kEdge && cuts(size, summarise)) {
      items.push_back(" ...");
      i = size - kEdge;
    }
    items.push_back(style(x.select(0, i)));
  }
  const auto room = kLine - static_cast<std::int64_t>(indent);
  const auto per_line =
      static_cast<std::size_t>(std::max<std::int64_t>(1, room / static_cast<std::int64_t>(style.width + 2)));
  std::string text = "[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i % per_line == 0 ? ",\n" + std::string(indent + 1, ' ') : ", ";
    text += items[i];
  }
  return text + "]";
}

std::string nested_text(const Array& x, std::size_t indent, bool summarise, const Style& style) {
  if (x.dim() == 0) return style(x);
  if (x.dim() == 1) return vector_text(x, indent, summarise, style);
  // Each further axis adds one newline.
  const std::string between =
      "," + std::string(static_cast<std::size_t>(x.dim() - 1), '\n') + std::string(indent + 1, ' ');
  std::string text = "[";
  const std::int64_t size = x.shape()[0];
  for (std::int64_t i = 0; i < size; ++i) {
    if (i == kEdge && cuts(size, summarise)) {
      text += between + "...";
      i = size - kEdge;
    }
    if (i > 0) text += between;
    text += nested_text(x.select(0, i), indent + 1, summarise, style);
  }
  return text + "]";
}

/// "(0, 3)": the shape of a tensor without elements.
std::string size_text(const Shape& shape) {
  const std::string list = to_string(shape);
  return "(" + list.substr(1, list.size() - 2) + ")";
}

std::string array_text(const std::string& name, const Array& x, const std::string& autograd) {
  if (!x.defined()) return name + "(undefined)";
  const std::string prefix = name + "(";
  const bool summarise = x.numel() > kThreshold;
  std::vector<std::string> notes;
  std::string text = prefix + "[]";
  bool obvious_dtype = x.dtype() == default_dtype();
  if (x.numel() > 0) {
    text = prefix + nested_text(x, prefix.size(), summarise, choose_style(x, summarise));
    obvious_dtype = obvious_dtype || x.dtype() == i64 || x.dtype() == boolean;
  } else if (x.dim() != 1) {
    notes.push_back("size=" + size_text(x.shape()));
  }
  if (!obvious_dtype) notes.push_back(fmt::format("dtype={}", x.dtype()));
  if (!autograd.empty()) notes.push_back(autograd);

  // PyTorch's count of the last line starts at 2.
  std::size_t line = text.size() - text.rfind('\n') + 1;
  for (const std::string& note : notes) {
    const bool fits = line + note.size() + 2 <= kLine;
    text += (fits ? ", " : ",\n" + std::string(prefix.size(), ' ')) + note;
    line = fits ? line + note.size() + 2 : prefix.size() + note.size();
  }
  return text + ")";
}

}  // namespace

std::string to_string(const Array& array) { return array_text("array", array, ""); }

std::string to_string(const Tensor& x) {
  std::string autograd;
  if (x.node() && !x.is_leaf())
    autograd = fmt::format("grad_fn=<{}>", x.node()->op);
  else if (x.requires_grad())
    autograd = "requires_grad=True";
  return array_text("tensor", x.array(), autograd);
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

}  // namespace gradus
