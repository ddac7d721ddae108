// One call of f is recorded, y = f(x); each derivative is made of passes back from it.
//
//   vjp        v^T J: the gradient of <y, v>
//   jvp        J v: G(u) = u^T J, the gradient of <y, u>, is linear in u, so J v is that of <G(u), v> in u
//   hvp        H v: the gradient of <g, v>, with g, the gradient of y, on the tape
//   jacobian   row k: the gradient of y_k
//   hessian    the Jacobian of g

#include "gradus/ops/functional.h"

#include "gradus/core/creation.h"
#include "gradus/ops/detail/derivatives.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

using Tensors = std::vector<Tensor>;
using detail::pull_back;
using detail::RecordedCall;

/// The outputs for the caller: without create_graph, constants.
TensorList results(const RecordedCall& call) {
  TensorList ys = call.outputs;
  if (!call.create_graph)
    for (Tensor& y : ys) y = y.detach();
  return ys;
}

/// d(y)/d(xs), each of y's shape followed by that of x.
TensorList rows_of(const Tensor& y, const Tensors& xs, bool create_graph) {
  ListOf<TensorList> columns(xs.size());  // one for each x: its rows
  if (y.requires_grad())
    for (std::int64_t k = 0; k < y.numel(); ++k) {
      const Array seed = Array::zeros({y.numel()}, y.dtype());
      seed.slice(0, k, k + 1).fill_(1);
      const Tensors row = pull_back({y}, {Tensor(seed.reshape(y.shape()))}, xs,
                                    {.retain_graph = true, .create_graph = create_graph});
      for (std::size_t j = 0; j < xs.size(); ++j) columns[j].push_back(row[j]);
    }
  const EnableGrad guard;
  TensorList all;
  for (std::size_t j = 0; j < xs.size(); ++j) {
    Shape shape = y.shape();
    for (const std::int64_t size : xs[j].shape()) shape.push_back(size);
    all.push_back(columns[j].empty() ? zeros(shape, xs[j].dtype()) : stack(columns[j], 0).reshape(shape));
  }
  return all;
}

}  // namespace

std::pair<TensorList, TensorList> vjp(const TensorFunction& f, const Tensors& inputs, const Tensors& v,
                                      const FunctionalOptions& options) {
  const RecordedCall call("vjp", "input", f, inputs, options.create_graph);
  const Tensors seeds = call.vectors(v, call.outputs, "output");
  TensorList products = pull_back(call.outputs, seeds, call.inputs, {.create_graph = options.create_graph});
  return {results(call), std::move(products)};
}

std::pair<TensorList, TensorList> jvp(const TensorFunction& f, const Tensors& inputs, const Tensors& v,
                                      const FunctionalOptions& options) {
  const RecordedCall call("jvp", "input", f, inputs, options.create_graph);
  const Tensors along = call.vectors(v, call.inputs, "input");
  Tensors us;  // where G is linearized: anywhere
  for (const Tensor& y : call.outputs) us.push_back(ones_like(y).requires_grad_());
  const Tensors gs = pull_back(call.outputs, us, call.inputs, {.create_graph = true});
  TensorList products = pull_back(gs, along, us, {.create_graph = options.create_graph});
  return {results(call), std::move(products)};
}

TensorList hvp(const TensorFunction& loss, const Tensors& inputs, const Tensors& v,
               const FunctionalOptions& options) {
  const RecordedCall call("hvp", "input", loss, inputs, options.create_graph);
  const Tensor& y = call.loss();
  const Tensors along = call.vectors(v, call.inputs, "input");
  const Tensors gradients = pull_back({y}, {ones_like(y)}, call.inputs, {.create_graph = true});
  return pull_back(gradients, along, call.inputs, {.create_graph = options.create_graph});
}

ListOf<TensorList> jacobian(const TensorFunction& f, const Tensors& inputs,
                            const FunctionalOptions& options) {
  const RecordedCall call("jacobian", "input", f, inputs, options.create_graph);
  ListOf<TensorList> all;
  for (const Tensor& y : call.outputs) all.push_back(rows_of(y, call.inputs, options.create_graph));
  return all;
}

ListOf<TensorList> hessian(const TensorFunction& loss, const Tensors& inputs,
                           const FunctionalOptions& options) {
  const RecordedCall call("hessian", "input", loss, inputs, options.create_graph);
  const Tensor& y = call.loss();
  const Tensors gradients = pull_back({y}, {ones_like(y)}, call.inputs, {.create_graph = true});
  ListOf<TensorList> all;
  for (const Tensor& g : gradients) all.push_back(rows_of(g, call.inputs, options.create_graph));
  return all;
}

}  // namespace gradus
