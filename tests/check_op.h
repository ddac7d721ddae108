#pragma once
// One function tests an op:
//
//   TEST_CASE("div") {
//     check_op("div", [](const Tensor& a, const Tensor& b) { return a / b; },
//              {{2, 3}, Input({3}).between(0.5, 2)});
//   }
//   TEST_CASE("relu") {
//     for (const Shape& shape : odd_shapes())
//       check_op("relu", [](const Tensor& x) { return relu(x); }, {shape}, {.kinks = {0}});
//   }
//   TEST_CASE("matmul: errors") {
//     check_error([] { matmul(zeros({2, 3}), zeros({4})); }, "matmul: ...");
//   }
//
// The function takes one, two or three Tensors, or a `const Tensors&` (any number), and returns a Tensor or
// Tensors. It must be deterministic: an op that draws numbers makes its Generator inside. check_op() fills
// the inputs with random numbers and checks, in this order:
//   - f64 gradients against central differences: every element of small inputs; of large ones a sample of
//     elements and some random directions. So a shape such as {300, 200}, which is cut into chunks for the
//     threads, costs little: use one such shape per op;
//   - values and gradients on every instruction set the CPU has: f32 against f64, f64 between sets;
//   - the same bits with 1, 2, 3, 4 and 8 threads;
//   - the same bits (option layout_bits) when inputs and incoming gradient are transposed, sliced (step 2),
//     at an odd offset, expanded (stride 0) over the first or last axis, or laid out each in another way;
//     memory around the inputs is NaN;
//   - each input alone wanting a gradient gets the same one; two backward passes give twice the gradient;
//   - inputs and incoming gradients keep their values, nothing is recorded without need, nothing leaks;
//   - gradients of gradients: with create_graph the gradients are the same; the derivative of each along a
//     random direction of each input, and of the incoming gradient, is that of plain gradients, in f64; f32
//     agrees, in another layout; with one input alone wanting a gradient; nothing leaks; for large inputs the
//     same bits with 1, 2 and 4 threads. An op without them fails with the library's message, which names it.
// Size-0 and size-1 axes are shapes: pass them as further calls (odd_shapes() has some).

#include <cstdint>
#include <string>
#include <vector>

#include "call.h"
#include "gradus/core/tensor.h"
#include "gradus/ops/gradcheck.h"

namespace gradus::test {

using Tensors = std::vector<Tensor>;

/// The op under test, from a callable as described above.
using Op = TensorFunction;

/// An input: a shape, filled with random numbers, or a given tensor (an index, a mask) that wants no
/// gradient.
struct Input {
  Input(std::initializer_list<std::int64_t> sizes) : shape(sizes) {}
  Input(const Shape& sizes) : shape(sizes) {}
  Input(const Tensor& values) : shape(values.shape()), given(values), wants_grad(false) {}
  /// Random numbers from this range instead of -2 to 2.
  Input& between(double from, double to) {
    low = from;
    high = to;
    return *this;
  }
  Input& constant() {
    wants_grad = false;
    return *this;
  }

  Shape shape;
  Tensor given = {};
  bool wants_grad = true;
  double low = -2, high = 2;
};

struct CheckOptions {
  double rtol = 1e-6;      // analytic against numeric, relative to the largest derivative of the input
  double eps = 1e-6;       // step of the central differences
  double f32_rtol = 1e-5;  // f32 against f64, relative to the largest element
  std::vector<double> kinks = {};          // random inputs stay 0.05 away from these
  bool layout_bits = true;                 // false: layouts may differ by rounding (matrix products)
  bool gradients_only = false;             // the first of the checks alone
  std::string no_second_derivatives = {};  // why it has none by nature: they are not checked
  double second_rtol = 1e-6;               // as rtol, of gradients of gradients
  double second_f32_rtol = 1e-3;           // as f32_rtol, of gradients of gradients
  std::uint64_t seed = 0;                  // other random numbers
};

/// Checks an op in every way listed above.
void check_op(const std::string& name, const Op& op, const std::vector<Input>& inputs,
              const CheckOptions& options = {}, const char* file = __builtin_FILE(),
              int line = __builtin_LINE());

/// What check_op would complain about: empty when all is well.
std::vector<std::string> op_problems(const std::string& name, const Op& op, const std::vector<Input>& inputs,
                                     const CheckOptions& options = {});

/// `call` throws gradus::Error with exactly this message, and records nothing.
void check_error(Call call, const std::string& message, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE());

/// What follows the op's name where a tensor is undefined: `check_error([] { sum(Tensor()); }, "sum" +
/// kUndefined)`.
inline const std::string kUndefined =
    ": the tensor is undefined: assign it first; a grad() is undefined before backward";

/// Shapes every elementwise op should bear: 0-d, size-0 and size-1 axes, sizes around vector widths, one
/// large enough for several threads.
const std::vector<Shape>& odd_shapes();

}  // namespace gradus::test
