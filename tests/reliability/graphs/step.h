#pragma once
// A random graph is a list of steps. Every step is carried out by the library and by the interpreter, and can
// be printed as a C++ statement.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/core/tensor.h"
#include "reliability/graphs/block.h"

namespace gradus::test::graphs {

struct Step;
class Draw;
using Tensors = std::vector<Tensor>;

/// An op of the library, and what is known of it.
struct OpCase {
  std::string name;  // as in ops.h
  /// Chooses inputs and parameters; false if nothing fits.
  std::function<bool(Draw& draw, Step& p)> draw;
  std::function<Tensors(const Step& p, const Tensors& x)> run;  // the call
  std::string text;                                             // the call, as it is written
  std::function<Blocks(const Step& p, const Blocks& x)> naive;  // its values, a number at a time
  /// What its backward reads, for the versions: "x0", "y", "x1/0" (only when input 0 needs a gradient). "~":
  /// if the tensor was not contiguous, a copy may have been saved instead; "?": or at all.
  std::string reads = "";
  enum class Memory { fresh, view, either } memory = Memory::fresh;  // where its result is
};

enum class Kind { leaf, op, write, hook, retain, backward, gradient, zero_grad };

/// The result `output` of step number `step`.
struct Ref {
  int step = -1, output = 0;
};

struct Step {
  Kind kind = Kind::op;
  const OpCase* op = nullptr;  // an op or a write
  std::vector<Ref> inputs = {};
  bool no_grad = false, checkpoint = false, autocast = false;  // how an op is called
  bool retain_graph = false,
       create_graph = false;  // of a pass: inputs are the root, its gradient (or none), the wanted
  bool seeded = false;

  // Of a leaf.
  Shape shape = {};
  DType dtype = DType::f32;
  std::vector<double> values = {};

  // Parameters of ops: a call uses some of them.
  std::int64_t axis = 0, other = 0, n = 0, m = 0;
  double a = 0, b = 0;
  bool keep = false, flag = false;
  Axes axes = {};
  Shape sizes = {};
  std::vector<Int> list = {};
  std::string equation = {};

  std::vector<std::int64_t> all_axes() const { return {axes.begin(), axes.end()}; }
};

/// The steps as a program; those that are not done any more are left out.
std::string program(const std::vector<Step>& steps);

}  // namespace gradus::test::graphs

// A call and its text: what `run` and `text` of an OpCase are.
#define GRADUS_CALL(...)                                                            \
  [](const ::gradus::test::graphs::Step& p,                                         \
     const ::gradus::test::graphs::Tensors& x) -> ::gradus::test::graphs::Tensors { \
    (void)p;                                                                        \
    return ::gradus::test::graphs::listed(__VA_ARGS__);                             \
  },                                                                                \
      #__VA_ARGS__

namespace gradus::test::graphs {
inline Tensors listed(const Tensor& y) { return {y}; }
inline Tensors listed(const TensorList& ys) { return {ys.begin(), ys.end()}; }
inline Tensors listed(const std::pair<Tensor, Tensor>& ys) { return {ys.first, ys.second}; }
}  // namespace gradus::test::graphs
