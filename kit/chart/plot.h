#pragma once
// Charts from vectors and tensors, in one line.
//
//   kit::plot(losses).save("loss.svg");                             // a vector, array, span or Tensor [N]
//   std::cout << kit::plot(losses, {.title = "Loss", .y_axis = kit::AxisKind::log});   // in the terminal
//
// These functions return a LineChart, BarChart or HeatMap (chart.h), with all its options:
// `auto chart = kit::plot(losses); chart.y_high = 3; report.figure(chart, "Falls.");`

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/terminal.h"

namespace gradus {
class Tensor;
}

namespace gradus::kit {

/// A container of numbers, such as std::vector<float>.
template <class R>
concept NumberList = requires(const R& r) {
  r.begin();
  r.end();
}
&&std::is_arithmetic_v<typename R::value_type>;

/// A copy of the values of a line. Throws unless a tensor is defined and has one axis; it may require grad.
class Values {
 public:
  /// From `{0.5, 1, 2}`; not a std::initializer_list, with which plot(y, {}) would be ambiguous.
  template <class... T>
  requires(sizeof...(T) > 0 && (std::is_arithmetic_v<T> && ...)) Values(T... numbers)
      : numbers_{static_cast<double>(numbers)...} {}
  template <NumberList R>
  Values(const R& numbers) : numbers_(numbers.begin(), numbers.end()) {}
  Values(const Tensor& x);
  const std::vector<double>& numbers() const& { return numbers_; }
  std::vector<double> numbers() const&& { return numbers_; }

 private:
  std::vector<double> numbers_;
};

/// A line with its name; over 0, 1, 2, ... if x is not given.
struct Line {
  std::string name;         // in the legend
  std::optional<Values> x;  // ascending, for a line
  Values y;                 // one for each x
  Line(std::string its_name, Values its_y) : name(std::move(its_name)), y(std::move(its_y)) {}
  Line(std::string its_name, Values its_x, Values its_y)
      : name(std::move(its_name)), x(std::move(its_x)), y(std::move(its_y)) {}
};

/// Values with a name.
struct Named {
  std::string name;  // of the line, bar or points
  Values values;     // in order
};

/// Adds a line over 0, 1, 2, ... to `chart`. Throws when there are no values, or the axes can show none.
/// `kit::plot(losses, {.x_label = "step"}).save("loss.svg");`
LineChart plot(const Values& y, LineChart chart = {});
/// The same over x; throws unless x and y have equal lengths. `kit::plot(x, sin(x)).save("sine.svg");`
LineChart plot(const Values& x, const Values& y, LineChart chart = {});
/// Named lines of any lengths: a name and y, or a name, x and y.
/// `kit::plot({{"train", losses}, {"validation", steps, means}}).save("loss.svg");`
LineChart plot(std::initializer_list<Line> lines, LineChart chart = {});

/// Reject unnamed lines and a title without `.title` at compile time, with the remedy.
template <class R>
requires std::same_as<R, Tensor> || NumberList<R> LineChart plot(std::initializer_list<R>,
                                                                 LineChart chart = {}) {
  static_assert(sizeof(R) == 0, "give each line a name: plot({{\"a\", v}, {\"b\", w}})");
  return chart;
}
template <std::same_as<char> C>
LineChart plot(const Values&, const C*) {
  static_assert(sizeof(C) == 0, "say what the text is: plot(v, {.title = \"...\"})");
  return {};
}

/// Adds a bar for each name to `chart`. Throws when there are no values, or their number differs from the
/// names'.
/// `kit::bars({"Adam", "SGD"}, {1.32, 1.57}, {.value_label = "nats"}).save("optimizers.svg");`
BarChart bars(std::vector<std::string> names, const Values& values, BarChart chart = {});
/// Several bars for each name, side by side.
/// `kit::bars({"6 layers", "12 layers"}, {{"Pre-LN", a}, {"Post-LN", b}}).save("layers.svg");`
BarChart bars(std::vector<std::string> names, std::initializer_list<Named> series, BarChart chart = {});

/// Adds a cell for each element of x [R, C] to `map`; rows and columns without names are numbered from 0.
/// Throws unless x is defined, has two axes and at most 4096 elements, with `.numbers = false` at most 1024 x
/// 1024, and any names fit its shape. Large values are dark; with `.low_is_good` the best is marked.
/// `kit::heat_map(weights, {.title = "Attention"}).save("attention.svg");`
/// `kit::heat_map(model.weight, {.numbers = false}).save("weight.svg");`
HeatMap heat_map(const Tensor& x, HeatMap map = {});

}  // namespace gradus::kit
