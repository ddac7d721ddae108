// How the tape works
//
// Every op computes its output at once and, if one of its inputs wants a gradient, leaves a Node behind: a
// note that says "I am a softmax, these are the nodes of my inputs, and this closure turns the gradient of my
// output into gradients of my inputs". Notes are numbered in the order they are written, and an op can only
// use what exists already, so an input's number is always smaller than its user's. Going through the notes
// from the highest number to the lowest therefore meets every user of a value before the value itself: no
// sorting by dependency is needed.
//
// backward() starts with the gradient 1 at the loss. At each note, highest first:
//   1. everything that uses this value has been visited, so its gradient is complete;
//   2. the closure turns it into one gradient per input;
//   3. the engine - and nobody else - adds each of these to what that input has gathered so far. (A closure
//      may return how to write its gradient instead: then the engine says where, and whether to add.)
// A value used twice (a diamond) is thus counted twice, as the chain rule wants. A leaf, such as a weight,
// adds what it gathered to its grad and keeps it until zero_grad().
//
// After its closure ran, a note lets go of it and of its inputs: memory falls while backward goes on, and a
// second backward over the same notes is an error unless retain_graph was asked for. Notes that nobody
// reaches any more die with the tensors that held them, so evaluating a model and dropping the result leaves
// nothing.

#include "gradus/core/autograd.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>

#include "gradus/core/dispatch.h"
#include "gradus/core/profile_recorder.h"
#include "gradus/core/record.h"
#include "gradus/core/scope.h"
#include "gradus/core/strided.h"

namespace gradus {

namespace {
thread_local bool recording = true;
thread_local bool anomaly = false;
thread_local const char* backward_op = nullptr;  // the op whose closure is running
thread_local std::vector<NodePtr> unclaimed;     // parameters with a gradient whose module was never added
std::atomic<std::uint64_t> passes{0};

bool has_nan(const Array& x) {
  if (!is_floating(x.dtype())) return false;
  return dispatch_floating("detect_anomaly", x.dtype(), [&]<class T>() {
    const Array dense = x.contiguous();
    const T* const data = dense.data<T>();
    return std::any_of(data, data + dense.numel(), [](T value) { return std::isnan(value); });
  });
}

std::string in_module(const char* module) { return *module ? fmt::format(" of module {}", module) : ""; }
}  // namespace

bool grad_enabled() { return recording; }
NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }
EnableGrad::EnableGrad() : before_(recording) { recording = true; }
EnableGrad::~EnableGrad() { recording = before_; }
DetectAnomaly::DetectAnomaly() : before_(anomaly) { anomaly = true; }
DetectAnomaly::~DetectAnomaly() { anomaly = before_; }

bool Needs::operator[](std::size_t input) const {
  const NodePtr& node = node_->inputs[input];
  return node && node->requires_grad;
}

void Saved::modified() const {
  fail_with(
      "{} backward: the {} {} it saved was changed in place after the forward pass: change it before the "
      "forward pass or after backward, or work on a clone()",
      backward_op ? backward_op : "saved", array_.dtype(), array_.shape());
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
  if (recorder) [[unlikely]]
    recorder->op_ends(op, out, inputs);
  check_output(op, out);
  return Tensor(std::move(out));
}

Tensor attach(const char* op, Array&& out, std::span<const Tensor* const> inputs, Node* raw) {
  NodePtr node(raw);
  if (recorder) [[unlikely]]
    recorder->op_ends(op, out, inputs);
  node->op = op;
  node->module = current_scope();
  node->shape = out.shape();
  node->dtype = out.dtype();
  if (!inputs.empty()) node->reads = read_ahead(inputs[0]->array());
  node->inputs.reserve(inputs.size());
  for (const Tensor* input : inputs)
    node->inputs.push_back(input->requires_grad() ? input->node() : NodePtr());
  check_output(op, out);
  return Tensor(std::move(out), std::move(node));
}

}  // namespace detail

/// One backward pass; with `within`, one inside another that ends at the inputs of that node.
class Engine {
 public:
  Engine(Node* root, const Array& seed, bool retain_graph, const Node* within = nullptr)
      : retain_graph_(retain_graph), root_(root) {
    collect(root, within);
    root->pending_ = seed;
  }

  ~Engine() {  // also after an exception: nothing half-gathered stays behind
    for (Node* node : nodes_)
      if (node->pending_.defined()) node->pending_ = Array();
  }

  void run() {
    const ReadAhead outer = next_step_reads();  // of the pass this one may be a part of
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      next_step_reads() = i + 1 < nodes_.size() ? nodes_[i + 1]->reads : outer;
      visit(*nodes_[i]);
    }
    next_step_reads() = outer;
    report_unclaimed();
  }

 private:
  void collect(Node* root, const Node* within) {
    const std::uint64_t pass = passes.fetch_add(1) + 1;
    if (within)
      for (const NodePtr& input : within->inputs)
        if (input) input->visited_ = pass;
    std::vector<Node*> stack{root};
    root->visited_ = pass;
    while (!stack.empty()) {
      Node* const node = stack.back();
      stack.pop_back();
      if (node->ran)
        fail_with(
            "backward: {} #{}{} was already passed by a backward that freed what it saved: call "
            "backward(/*retain_graph=*/true) the first time, or run the forward pass again",
            node->op, node->order, in_module(node->module));
      if (within && node->order < within->order)
        fail_with("{} backward: {} {}{} was used that was not in the forward pass", within->op, node->op,
                  node->shape, in_module(node->module));
      nodes_.push_back(node);
      for (const NodePtr& input : node->inputs)
        if (input && input->visited_ != pass) {
          input->visited_ = pass;
          stack.push_back(input.get());
        }
    }
    std::sort(nodes_.begin(), nodes_.end(), [](const Node* a, const Node* b) { return a->order > b->order; });
    spent_.reserve(nodes_.size());
  }

  void visit(Node& node) {
    Array gradient = std::move(node.pending_);  // which leaves it undefined
    if (gradient.defined()) {
      for (const GradHook& hook : node.hooks) hook(gradient);
      if (node.is_leaf)
        keep_leaf(node, std::move(gradient));
      else
        propagate(node, std::move(gradient));
    }
    if (!node.is_leaf && !retain_graph_) {
      node.free_saved();
      spent_.push_back(std::move(node.inputs));
      node.inputs.clear();
      node.ran = true;
    }
  }

  void keep_leaf(Node& leaf, Array gradient) {
    if (!leaf.requires_grad) return;
    add(leaf.grad, std::move(gradient), /*own=*/true);
  }

  void propagate(Node& node, Array gradient) {
    const Scope scope(node.module);
    if (detail::recorder) detail::recorder->end_lap();
    backward_op = node.op;
    Grads grads = node.backward(gradient, Needs(node));
    if (grads.size() != node.inputs.size())
      fail_with("{} backward: returned {} gradients for {} inputs", node.op, grads.size(),
                node.inputs.size());
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (grads[i].write() && node.inputs[i]) write_into(node, i, grads[i]);
    backward_op = nullptr;
    if (detail::recorder) detail::recorder->backward_ends(node.op, node.module, gradient, grads);
    if (node.retain_grad)
      add(node.grad, std::move(gradient), /*own=*/true);
    else
      gradient = Array();
    for (std::size_t i = 0; i < grads.size(); ++i) {
      Node* const input = node.inputs[i].get();
      if (input == nullptr || !grads[i].array().defined()) continue;
      check_gradient(node, i, grads[i]);
      check_nan(node, i, grads[i].array());
      add(input->pending_, grads[i].take(), /*own=*/false);
    }
  }

  /// The op adds where the engine says.
  static void write_into(const Node& node, std::size_t i, const Gradient& dx) {
    check_gradient(node, i, dx);
    Array& total = node.inputs[i]->pending_;
    const bool first = !total.defined();
    if (first)
      total = Array::empty(dx.shape(), dx.dtype());
    else if (!total.owns_exclusively() || !total.is_contiguous())
      total = total.clone();
    (*dx.write())(total, !first);
    check_nan(node, i, total);
  }

  /// A parameter nobody claimed is suspicious beside claimed ones of the same pass; a pass without any
  /// belongs to a model that is measured, not trained.
  void report_unclaimed() const {
    const auto parameter = [](bool claimed) {
      return [claimed](const Node* node) {
        return node->parameter && node->requires_grad && node->claimed == claimed;
      };
    };
    if (!unclaimed.empty() || std::none_of(nodes_.begin(), nodes_.end(), parameter(true))) return;
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node)
      if (parameter(false)(*node)) unclaimed.emplace_back(*node);
  }

  static void check_gradient(const Node& node, std::size_t i, const Gradient& dx) {
    const Node& input = *node.inputs[i];
    if (dx.shape() != input.shape || dx.dtype() != input.dtype) [[unlikely]]
      fail_with("{} backward: the gradient of input {} is {} {}, expects {} {}", node.op, i, dx.dtype(),
                dx.shape(), input.dtype, input.shape);
  }

  static void check_nan(const Node& node, std::size_t i, const Array& dx) {
    if (anomaly && has_nan(dx)) [[unlikely]]
      fail_with("detect_anomaly: {} backward produced NaN in the gradient of input {} {}", node.op, i,
                dx.shape());
  }

  /// total += gradient. With `own`, total never shares memory with anything else.
  static void add(Array& total, Array gradient, bool own) {
    if (!total.defined()) {
      total = own && !gradient.owns_exclusively() ? gradient.clone() : std::move(gradient);
      return;
    }
    if (!total.owns_exclusively()) total = total.clone();
    total.add_(gradient);
  }

  bool retain_graph_;
  std::vector<Node*> nodes_;  // newest first
  // Every node of the pass stays until it ends: the root by this, the others by their users' inputs.
  NodePtr root_;
  std::vector<std::vector<NodePtr>> spent_;
};

void run_backward(const Tensor& root, const Array& seed, bool retain_graph) {
  if (!root.requires_grad())
    fail_with(
        "backward: the tensor {} does not require grad: no input did when it was computed, or NoGrad was on",
        root.shape());
  if (seed.shape() != root.shape() || seed.dtype() != root.dtype())
    fail_with("backward: expects a gradient {} {}, got {} {}", root.dtype(), root.shape(), seed.dtype(),
              seed.shape());
  const ProfileRange range("backward", "accumulate");
  Engine(root.node().get(), seed, retain_graph).run();
}

void run_backward_within(const Node& node, const Tensor& root, const Array& seed) {
  Engine(root.node().get(), seed, /*retain_graph=*/false, &node).run();
}

void check_unclaimed_parameters(const char* caller) {
  const std::vector<NodePtr> suspects = std::exchange(unclaimed, {});
  for (const NodePtr& leaf : suspects)
    if (!leaf->claimed)
      fail_with(
          "{}: {} {} received a gradient but is in no optimizer: its module was never added (declare it as "
          "`nn::Linear fc = add(\"fc\", nn::Linear(...));`) or added after the optimizer was made; one that "
          "shall not be trained is frozen with requires_grad_(false)",
          caller, *leaf->module ? leaf->module : "a parameter", leaf->shape);
}

}  // namespace gradus
