#pragma once
// Derivatives of functions: vjp, jvp, hvp, jacobian and hessian, as in torch.autograd.functional.
//
// A function takes its inputs, `[](const Tensor& x) { return x.exp(); }`, or none, `[&] { return
// model.loss(x, y); }`. The first kind gets tensors of its own that share the inputs' values, so the inputs
// need not require grad; a result computed from other tensors does not depend on them. The inputs of the
// second kind are tensors it uses, such as model.parameters(), and require grad.
//
// The derivatives are exact up to rounding, in f32 and f64, and zeros where a result does not depend on an
// input. The function is called once, with the tape on; no grad and no input changes, and the thread's
// default generator is restored afterwards.

#include <concepts>
#include <utility>
#include <vector>

#include "gradus/core/list.h"
#include "gradus/core/tensor.h"
#include "gradus/ops/gradcheck.h"

namespace gradus {

struct FunctionalOptions {
  bool create_graph = false;  // the derivatives are on the tape and have derivatives themselves: without it
                              // they are constants for a function around this one
};

/// The outputs y, and v^T J for the Jacobian J of y: one v for each output, of its shape, gives one product
/// for each input, of its shape. v may be left out for one output of one element. A forward and a backward
/// pass. Without create_graph the latter also frees a graph from before the call that f uses and that leads
/// to the inputs: record it inside f, or detach() it.
/// `const auto [y, vj] = vjp([](const Tensor& x) { return x.exp(); }, {x}, {v});`
std::pair<TensorList, TensorList> vjp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& v = {},
                                      const FunctionalOptions& options = {});
template <std::same_as<Tensor> T>
void vjp(const TensorFunction&, const T&, const auto&...) = delete;  // in braces: vjp(f, {x}, {v})
template <std::same_as<Tensor> T>
void vjp(const TensorFunction&, const std::vector<Tensor>&, const T&) = delete;  // vjp(f, {x}, {v})

/// The outputs y, and J v: one v for each input, of its shape, gives one product for each output, of its
/// shape: the derivative of y along v. v may be left out for one input of one element. Two backward passes,
/// the second through the first; they free no graph from before the call.
/// `const auto [y, jv] = jvp([](const Tensor& x) { return x.exp(); }, {x}, {v});`
std::pair<TensorList, TensorList> jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& v = {},
                                      const FunctionalOptions& options = {});
template <std::same_as<Tensor> T>
void jvp(const TensorFunction&, const T&, const auto&...) = delete;  // in braces: jvp(f, {x}, {v})
template <std::same_as<Tensor> T>
void jvp(const TensorFunction&, const std::vector<Tensor>&, const T&) = delete;  // jvp(f, {x}, {v})

/// H v for the Hessian H of the loss, which has one element: one v for each input, of its shape, gives one
/// product for each, of its shape. v may be {} for one input of one element. Two backward passes, the
/// second through the first. Without create_graph the second also frees a graph from before the call that
/// the loss uses and that leads to the inputs: record it inside the loss, or detach() it. PyTorch returns the
/// loss, too.
/// `const TensorList hv = hvp([&] { return model.loss(x, y); }, model.parameters(), v);`
TensorList hvp(const TensorFunction& loss, const std::vector<Tensor>& inputs, const std::vector<Tensor>& v,
               const FunctionalOptions& options = {});
template <std::floating_point T>
TensorList hvp(const TensorFunction&, const std::vector<Tensor>&,  // products are exact: without eps
               const std::vector<Tensor>&, T eps) = delete;
template <std::same_as<Tensor> T>
TensorList hvp(const TensorFunction&, const T&, const auto&) = delete;  // in braces: hvp(f, {x}, {v})[0]
template <std::same_as<Tensor> T>
TensorList hvp(const TensorFunction&, const std::vector<Tensor>&, const T&) = delete;  // hvp(f, {x}, {v})

/// J[i][j], the derivative of output i with respect to input j, of the output's shape followed by the
/// input's. A backward pass for each element of the outputs.
/// `const Tensor J = jacobian([](const Tensor& x) { return softmax(x, -1); }, {x})[0][0];`
ListOf<TensorList> jacobian(const TensorFunction& f, const std::vector<Tensor>& inputs,
                            const FunctionalOptions& options = {});
template <std::same_as<Tensor> T>
ListOf<TensorList> jacobian(const TensorFunction&, const T&) = delete;  // in braces: jacobian(f, {x})[0][0]

/// H[i][j], the second derivative of the loss, which has one element, with respect to inputs i and j, of
/// their shapes one after the other. n elements of the inputs cost n backward passes through the gradient,
/// and n^2 numbers: for small inputs, or parameters.
/// `const Tensor H = hessian([](const Tensor& x) { return x.pow(3).sum(); }, {x})[0][0];  // diag(6 x)`
ListOf<TensorList> hessian(const TensorFunction& loss, const std::vector<Tensor>& inputs,
                           const FunctionalOptions& options = {});
template <std::same_as<Tensor> T>
ListOf<TensorList> hessian(const TensorFunction&, const T&) = delete;  // in braces: hessian(f, {x})[0][0]

}  // namespace gradus
