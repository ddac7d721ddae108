#pragma once
// gradcheck: is a backward correct? See docs/course/05_gradient_checking/README.md. gradgradcheck: and is its
// own derivative, which grad(y, {x}, {.create_graph = true}) computes?

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

/// A function whose derivatives are taken or checked. It takes one, two or three Tensors, a `const
/// std::vector<Tensor>&`, or nothing (a loss that uses a model's parameters), and returns a Tensor or a
/// std::vector of them. gradcheck calls it many times, so it must be deterministic; the thread's default
/// generator gives the same random numbers in each call.
class TensorFunction {
 public:
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, TensorFunction> && !std::is_same_v<std::decay_t<F>, Tensor>)
      TensorFunction(F f)
      : call_([f = std::move(f)](const std::vector<Tensor>& x, const char* caller) -> std::vector<Tensor> {
          if constexpr (std::is_invocable_v<const F&, const Tensor&>)  // first: may be a generic lambda
            return list(f(expect(caller, x, 1)[0]));
          else if constexpr (std::is_invocable_v<const F&, const std::vector<Tensor>&>)
            return list(f(x));
          else if constexpr (std::is_invocable_v<const F&, const Tensor&, const Tensor&>)
            return list(f(expect(caller, x, 2)[0], x[1]));
          else if constexpr (std::is_invocable_v<const F&, const Tensor&, const Tensor&, const Tensor&>)
            return list(f(expect(caller, x, 3)[0], x[1], x[2]));
          else {
            static_assert(std::is_invocable_v<const F&>,
                          "a function of one to three Tensors, of a vector of them, or of nothing");
            return list(f());
          }
        }),
        takes_inputs_(std::is_invocable_v<const F&, const Tensor&> || !std::is_invocable_v<const F&>) {}
  template <std::same_as<Tensor> T>
  TensorFunction(const T& loss) = delete;  // a function: [&] { return model.loss(x, y); }
  /// Throws, naming the caller, unless there are as many inputs as the function takes.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs,
                                 const char* caller = "TensorFunction") const {
    return call_(inputs, caller);
  }
  /// False for a function of nothing, which uses its inputs without being given them.
  bool takes_inputs() const { return takes_inputs_; }

 private:
  static std::vector<Tensor> list(Tensor y) { return {std::move(y)}; }
  static std::vector<Tensor> list(std::vector<Tensor> ys) { return ys; }
  static const std::vector<Tensor>& expect(const char* caller, const std::vector<Tensor>& x,
                                           std::size_t count);
  std::function<std::vector<Tensor>(const std::vector<Tensor>&, const char*)> call_;
  bool takes_inputs_;
};

struct GradcheckOptions {
  double eps = 1e-6;                // step of the central differences
  double atol = 1e-5, rtol = 1e-3;  // allowed differences: atol + rtol times the derivative
};

/// Compares every derivative of every output element with respect to every element of the inputs that require
/// grad with central differences, (f(x + eps) - f(x - eps)) / 2 eps, taken in place: f may use an input or a
/// tensor that shares its memory, such as a model's parameters. Throws if one is off by more than atol + rtol
/// |central difference|; the message names the worst and the count. Inputs that require grad are f64 leaves
/// without shared elements; others are constants. Adds to no grad. n elements cost 2 n + 2 calls of f and a
/// backward per output element: for small inputs. The differences are computed without a tape, where
/// on_grad() and grad() are errors (a function that calls them starts with `const EnableGrad on;`); buffers
/// that f updates, such as running statistics, stay updated.
///
///     gradcheck([](const Tensor& x) { return my_op(x); }, {randn({3, 4}, f64).requires_grad_()});
///     gradcheck([&] { return model.loss(x, y); }, model.parameters());
void gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options = {});

struct GradgradcheckOptions {
  std::vector<Tensor> grad_outputs = {};  // one per output that requires grad; none: random f64 leaves
  double eps = 1e-6;                      // as in gradcheck
  double atol = 1e-5, rtol = 1e-3;        // as in gradcheck
};

/// The second-order gradcheck: it checks the function (inputs, grad_outputs) -> grad(f(inputs), inputs,
/// grad_outputs), with create_graph: all its derivatives with respect to all elements of the inputs and of
/// the grad_outputs that require grad. First, these gradients must be the ones of a plain backward, within
/// the same tolerances. Throws as gradcheck does, and if an op has no second derivative. Outputs that require
/// grad are f64; others are left out. It does not check the gradient itself, so call both. n elements of
/// inputs and m of outputs cost 2 (n + m) + 3 calls of f with a backward that creates a graph, and n backward
/// passes.
///
///     gradgradcheck([](const Tensor& x) { return my_op(x); }, {randn({3, 4}, f64).requires_grad_()});
void gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                   const GradgradcheckOptions& options = {});

}  // namespace gradus
