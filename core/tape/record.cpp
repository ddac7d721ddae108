// Whether and how ops are recorded on the tape, and the scopes that control it.

#include "gradus/core/tape/record.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/dump.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/tape/autocast.h"
#include "gradus/core/tape/detail/anomaly.h"
#include "gradus/core/tape/scope.h"

namespace gradus {

namespace {
thread_local bool recording = true;

#ifndef __EMSCRIPTEN__
// Only a debugger calls it: this makes it part of every program that has ops.
[[gnu::used]] void (*const kept_for_debuggers)(const Tensor& x) noexcept = dump;
#endif
}  // namespace

namespace detail {
constinit thread_local bool anomaly = false;

bool has_nan(const Array& x) {
  if (!is_floating(x.dtype())) return false;
  return dispatch_floating("detect_anomaly", x, [&]<class T>() {
    const Array dense = x.contiguous();
    const T* const data = dense.data<T>();
    return std::any_of(data, data + dense.numel(), [](T value) { return std::isnan(value); });
  });
}
}  // namespace detail

bool grad_enabled() { return recording; }
NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }
EnableGrad::EnableGrad() : before_(recording) { recording = true; }
EnableGrad::~EnableGrad() { recording = before_; }
DetectAnomaly::DetectAnomaly() : before_(detail::anomaly) { detail::anomaly = true; }
DetectAnomaly::~DetectAnomaly() { detail::anomaly = before_; }

Autocast::Autocast(DType products) : before_(detail::products) {
  check(products == bf16 || products == f32,
        "Autocast: expects bf16, or f32 to turn it off, got {}: no other dtype is for products", products);
  detail::products = products;
}

namespace detail {

bool wants_tape(std::span<const Tensor* const> inputs) {
  return recording &&
         std::any_of(inputs.begin(), inputs.end(), [](const Tensor* x) { return x->requires_grad(); });
}

static void check_output(const char* op, const Array& out) {
  if (anomaly && has_nan(out)) [[unlikely]]
    fail_with("detect_anomaly: {} produced NaN in its output {}", op, out.shape());
}

Tensor untaped(const char* op, Array&& out, std::span<const Tensor* const> inputs) {
  if (watcher) [[unlikely]]
    watcher->op_ends(op, out, inputs);
  check_output(op, out);
  return Tensor(std::move(out));
}

Tensor attach(const char* op, Array&& out, std::span<const Tensor* const> inputs, Node* raw) {
  NodePtr node(raw);
  if (watcher) [[unlikely]]
    watcher->op_ends(op, out, inputs);
  node->op = op;
  node->label = current_scope();
  node->shape = out.shape();
  node->dtype = out.dtype();
  if (!inputs.empty()) node->remember_first_input(inputs[0]->array());
  node->inputs.reserve(inputs.size());
  for (const Tensor* input : inputs)
    node->inputs.push_back(input->requires_grad() ? input->node() : NodePtr());
  check_output(op, out);
  return Tensor(std::move(out), std::move(node));
}

}  // namespace detail

}  // namespace gradus
