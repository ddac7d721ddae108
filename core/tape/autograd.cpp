// How the tape works
//
// Every op computes its output at once and, if one of its inputs wants a gradient, records a Node, which
// says "I am a softmax, these are the nodes of my inputs, and this closure turns the gradient of my output
// into gradients of my inputs". Nodes are numbered in the order they are recorded, and an op can only use
// existing values, so an input's number is always smaller than its user's. Visiting the nodes from the
// highest number to the lowest therefore reaches every user of a value before the value itself.
//
// backward() starts with the gradient 1 at the loss, in a pass with its own list of each node's accumulated
// gradient. At each node, highest first:
//   1. everything that uses this value has been visited, so its gradient is complete;
//   2. the closure turns it into one gradient per input;
//   3. only the engine adds each of these to that input's accumulated gradient. (A closure may instead return
//      how to write its gradient: then the engine decides where, and whether to add.)
// A value used twice (a diamond) is thus counted twice, as the chain rule requires. A leaf, such as a weight,
// adds its accumulated gradient to its grad and keeps it until zero_grad(). Leaves are older than all ops, so
// this happens at the end: a pass that fails adds nothing. (EarlyGrads visits each right after its oldest
// user instead.) If grad() requested certain gradients, the pass goes only where it must and returns them.
//
// After its closure has run, a node frees it and its inputs: memory falls during backward, and a second
// backward over the same nodes is an error unless retain_graph is set. Unreachable nodes are destroyed with
// the tensors that held them: evaluating a model leaves nothing behind.
//
// With create_graph, grad() makes the same pass with Tensors: the closures compute with ops, which record
// themselves, so that the gradients are on the tape too and can be differentiated again. Such a pass frees
// nothing.
//
// detail/pass_nodes.cpp finds the nodes of a pass; the engine below goes through them.

#include "gradus/core/tape/autograd.h"

#include <algorithm>
#include <utility>

#include "gradus/core/detail/format.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/tape/autocast.h"
#include "gradus/core/tape/detail/after_pass.h"
#include "gradus/core/tape/detail/anomaly.h"
#include "gradus/core/tape/detail/next_reads.h"
#include "gradus/core/tape/detail/pass_nodes.h"
#include "gradus/core/tape/record.h"
#include "gradus/core/tape/scope.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace {
thread_local const char* backward_op = nullptr;  // the op whose closure is running
thread_local ReadAhead next_reads;               // of the step after the one that is running
std::atomic<AfterPass> after_pass = nullptr;
thread_local const EarlyGrads::Ready* early_grads = nullptr;

/// Restores a variable at the end of a scope.
template <class T>
struct Restore {
  explicit Restore(T& place) : variable(place), before(place) {}
  ~Restore() { variable = before; }
  Restore(const Restore&) = delete;
  T& variable;
  T before;
};
}  // namespace

ReadAhead next_step_reads() { return next_reads; }
AfterPass set_after_pass(AfterPass look) { return after_pass.exchange(look); }

EarlyGrads::EarlyGrads(Ready ready) : ready_(std::move(ready)), before_(std::exchange(early_grads, &ready_)) {
  if (!ready_) ready_ = [](Node&) {};
}
EarlyGrads::~EarlyGrads() { early_grads = before_; }

void Saved::modified() const {
  fail_with(
      "{} backward: the {} {} it saved was changed in place after the forward pass: change it before the "
      "forward pass or after backward, or work on a clone()",
      backward_op ? backward_op : "saved", array_.dtype(), array_.shape());
}

/// What the passes of Arrays and of Tensors share: which nodes they go through.
struct Pass {
  /// Whether the running pass needs the gradient of this input.
  static bool leads(const Node& input) {
    return !running || running->wanted.empty() || running->path.place_of(input) < running->path.size();
  }
  std::span<Node* const> wanted;  // if any, no grad is touched
  const PassNodes& path;
  static thread_local Pass* running;
};
thread_local Pass* Pass::running = nullptr;

/// One backward pass; with `within`, a part of another that ends at the inputs of that node; with `wanted`,
/// one that goes only where it leads to these nodes and keeps their gradients instead of adding to any grad.
///
/// A pass accumulates gradients in its own list, parallel to that of its nodes, so passes of several threads
/// may share nodes: a model's parameters, and what their losses have in common if all passes retain the
/// graph.
///
/// V is what a gradient is: an Array, or for create_graph a Tensor that is itself on the tape.
template <class V>
class Engine : public Pass {
  static constexpr bool kTaped = std::is_same_v<V, Tensor>;

 public:
  Engine(Node* root, const V& seed, bool retain_graph, const Node* within = nullptr,
         std::span<Node* const> wanted_nodes = {})
      : Pass{wanted_nodes, nodes_},
        retain_graph_(retain_graph),
        within_(within),
        found_(wanted.size()),
        early_(kTaped || within || !wanted.empty() ? nullptr : early_grads),
        root_(root),
        lists_(spare_alive ? std::exchange(static_cast<Lists&>(spare), {}) : Lists()),
        nodes_(root, retain_graph, within, wanted, running ? &running->path : nullptr, lists_),
        outer_(std::exchange(running, this)) {
    try {
      if (pending_.size() < nodes_.size()) pending_.resize(nodes_.size());
      spent_.reserve(nodes_.size());
      if (early_) find_oldest_users();
    } catch (...) {
      end();
      throw;
    }
    if (nodes_.size() > 0) pending_[0] = seed;
  }

  ~Engine() { end(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Leaves the gradients of the wanted nodes in `found`.
  std::vector<V> run() {
    const Restore reads(next_reads);  // of the pass this one may be part of
    const Restore op(backward_op);
    for (; done_ < nodes_.size(); ++done_) {
      next_reads = done_ + 1 < nodes_.size() ? reads_of(nodes_[done_ + 1]) : reads.before;
      take(done_);
      for (; !leaves_.empty() && leaves_.back().user == done_; leaves_.pop_back()) take(leaves_.back().leaf);
    }
    if (const AfterPass look = after_pass.load(std::memory_order_relaxed); look && wanted.empty())
      look(nodes_.list());
    return std::move(found_);
  }

 private:
  static ReadAhead reads_of(const Node& node) { return {node.first_input_.data, node.first_input_.bytes}; }

  /// For EarlyGrads: the list of leaves, of which the last one is complete first.
  void find_oldest_users() {
    std::vector<std::size_t> user(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const NodePtr& input : nodes_[i].inputs)
        if (input && input->is_leaf) user[nodes_.place_of(*input)] = i;  // users come from the newest on
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      if (nodes_[i].is_leaf) leaves_.push_back({user[i], i});
    std::sort(leaves_.begin(), leaves_.end(), [](const Last& a, const Last& b) {
      return std::pair(a.user, a.leaf) > std::pair(b.user, b.leaf);
    });
  }

  /// After the pass, or an exception: releases nodes that were not freed and discards partial gradients.
  void end() {
    running = outer_;
    if (done_ < nodes_.size())
      for (V& gradient : pending_) gradient = V();
    nodes_.leave(done_);
    spent_.clear();
    if (spare_alive && pending_.size() <= kKept) std::swap(lists_, static_cast<Lists&>(spare));
  }

  /// The gradient accumulated so far by a node of this pass, or one where it ends.
  V& pending(const Node& node) {
    if (within_ && node.order < within_->order) return static_cast<Engine*>(outer_)->pending(node);
    const std::size_t place = nodes_.place_of(node);
    return place < nodes_.size() ? pending_[place] : unwanted_ = V();
  }

  void take(std::size_t number) {
    visit(number, std::move(pending_[number]));
    if (pending_[number].defined()) pending_[number] = V();
  }

  void visit(std::size_t number, V&& gradient) {
    Node& node = nodes_[number];
    if (gradient.defined()) {
      if (node.hooks_.load(std::memory_order_relaxed) != nullptr) {
        gradient = node.call_hooks(std::move(gradient));
        if (detail::anomaly && detail::has_nan(detail::array_of(gradient)))
          fail_with("detect_anomaly: a hook of {} {} was passed or returned NaN", node.op, node.shape);
      }
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] == &node) found_[i] = gradient;
      if (!node.is_leaf && nodes_.is_passed(number))
        propagate(node, std::move(gradient));
      else if constexpr (!kTaped) {
        if (node.is_leaf && node.requires_grad && wanted.empty()) {
          node.add_to_grad(std::move(gradient));
          if (early_) (*early_)(node);
        }
      }
    }
    if (!node.is_leaf && !retain_graph_ && nodes_.is_passed(number)) {
      node.free_saved();
      spent_.push_back(std::move(node.inputs));
      node.inputs.clear();
      node.passes_.store(wanted.empty() ? Node::kFreed : Node::kFreedByGrad, std::memory_order_release);
    }
  }

  void propagate(Node& node, V&& gradient) {
    const Scope scope(node.label);
    const Autocast precision(node.products);
    if (detail::watcher) detail::watcher->end_lap();
    backward_op = node.op;
    if constexpr (kTaped)
      differentiate(node, gradient);
    else
      pass_on(node, std::move(gradient));
  }

  /// The closure computes with ops, which record themselves; so does the sum of two gradients.
  void differentiate(Node& node, const Tensor& gradient) {
    const std::vector<Tensor> grads = node.derivative(gradient, Needs(node));
    check_count(node, grads.size());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      Node* const input = node.inputs[i].get();
      if (input == nullptr || !grads[i].defined()) continue;
      check_gradient(node, i, grads[i].array());
      check_nan(node, i, grads[i].array());
      Tensor& total = pending(*input);
      total = total.defined() ? total + grads[i] : grads[i];
    }
  }

  void pass_on(Node& node, Array&& gradient) {
    Grads grads = node.backward(gradient, Needs(node));
    check_count(node, grads.size());
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (grads[i].write() && node.inputs[i] && leads(*node.inputs[i])) write_into(node, i, grads[i]);
    if (detail::watcher) detail::watcher->backward_ends(node.op, node.label, gradient, grads);
    if (node.retain_grad && wanted.empty())
      node.add_to_grad(std::move(gradient));
    else
      gradient = Array();
    for (std::size_t i = 0; i < grads.size(); ++i) {
      Node* const input = node.inputs[i].get();
      if (input == nullptr || !grads[i].array().defined()) continue;
      check_gradient(node, i, grads[i]);
      check_nan(node, i, grads[i].array());
      add(pending(*input), grads[i].take());
    }
  }

  /// The op adds where the engine tells it to.
  void write_into(const Node& node, std::size_t i, const Gradient& dx) {
    check_gradient(node, i, dx);
    Array& total = pending(*node.inputs[i]);
    const bool first = !total.defined();
    if (first)
      total = Array::empty(dx.shape(), dx.dtype());
    else if (!total.owns_exclusively() || !total.is_contiguous())
      total = total.clone();
    (*dx.write())(total, !first);
    check_nan(node, i, total);
  }

  static void check_count(const Node& node, std::size_t gradients) {
    if (gradients != node.inputs.size())
      fail_with("{} backward: returned {} gradients for {} inputs", node.op, gradients, node.inputs.size());
  }

  static void check_gradient(const Node& node, std::size_t i, const Gradient& dx) {
    const Node& input = *node.inputs[i];
    if (dx.shape() != input.shape || dx.dtype() != input.dtype) [[unlikely]]
      fail_with("{} backward: the gradient of input {} is {} {}, expects {} {}", node.op, i, dx.dtype(),
                dx.shape(), input.dtype, input.shape);
  }

  static void check_nan(const Node& node, std::size_t i, const Array& dx) {
    if (detail::anomaly && detail::has_nan(dx)) [[unlikely]]
      fail_with("detect_anomaly: {} backward produced NaN in the gradient of input {} {}", node.op, i,
                dx.shape());
  }

  static void add(Array& total, Array gradient) {
    if (!total.defined()) {
      total = std::move(gradient);
      return;
    }
    if (!total.owns_exclusively()) total = total.clone();
    total.add_(gradient);
  }

  struct Lists : PassNodes::Memory {
    std::vector<V> pending;  // gradients of the nodes so far; there may be extra, undefined ones
    std::vector<std::vector<NodePtr>> spent;  // inputs of freed nodes
  };
  struct Spare : Lists {
    ~Spare() { spare_alive = false; }
  };
  static constexpr std::size_t kKept = 4096;  // longer lists are not kept for the next pass

  bool retain_graph_;
  const Node* within_;
  std::vector<V> found_;  // gradients of the wanted nodes
  V unwanted_ = {};
  const EarlyGrads::Ready* early_;  // null: leaves come last
  struct Last {
    std::size_t user, leaf;  // the oldest user of a leaf
  };
  std::vector<Last> leaves_ = {};  // with early_, those not yet complete
  // Every node of the pass stays until it ends: the root by this, the others by their users' inputs, which
  // are kept in `spent`.
  NodePtr root_;
  Lists lists_;
  PassNodes nodes_;
  Pass* outer_;  // this thread's pass that contains this one, or null
  std::vector<V>& pending_ = lists_.pending;
  std::vector<std::vector<NodePtr>>& spent_ = lists_.spent;
  std::size_t done_ = 0;  // nodes visited

  static thread_local Spare spare;       // the memory of the last pass of this thread
  static thread_local bool spare_alive;  // not when a destructor of a static object runs backward
};

template <class V>
thread_local typename Engine<V>::Spare Engine<V>::spare;
template <class V>
thread_local bool Engine<V>::spare_alive = true;

std::vector<Tensor> Node::derivative(const Tensor&, Needs) {
  fail_with(
      "grad: {} {} has no second derivative, which create_graph needs: its backward is written for Arrays "
      "alone, or returns no GradsOf<V>; state it for Tensors too, as core/tape/record.h shows",
      op, shape);
}

Tensor Taped::in(std::size_t i, const Array& values) const {
  if (i >= node_->inputs.size())
    fail_with("{} backward: of.in({}, ...): expects the number of an input, below {}", node_->op, i,
              node_->inputs.size());
  const NodePtr& input = node_->inputs[i];
  if (input && values.shape() != input->shape)
    fail_with("{} backward: input {} was saved as {}, expects its shape {}", node_->op, i, values.shape(),
              input->shape);
  return {values, input};
}

// What a derivative records is newer than its op: so no cycle.
Tensor Taped::out(const Array& values) const {
  if (values.shape() != node_->shape)
    fail_with("{} backward: the output was saved as {}, expects its shape {}", node_->op, values.shape(),
              node_->shape);
  return {values, NodePtr(const_cast<Node*>(node_))};
}

bool Needs::operator[](std::size_t input) const {
  if (input >= node_->inputs.size()) [[unlikely]]
    fail_with("{} backward: of[{}]: expects the number of an input, below {}", node_->op, input,
              node_->inputs.size());
  const NodePtr& node = node_->inputs[input];
  return node && node->requires_grad && Pass::leads(*node);
}

void run_backward(const Tensor& root, const Array& seed, bool retain_graph) {
  check(root.requires_grad(),
        "backward: the tensor {} does not require grad: no input did when it was computed, or NoGrad was on, "
        "or it is a gradient without create_graph, or a constant one",
        root.shape());
  check(seed.shape() == root.shape() && seed.dtype() == root.dtype(),
        "backward: expects a gradient {} {}, got {} {}", root.dtype(), root.shape(), seed.dtype(),
        seed.shape());
  const ProfileRange range("backward", "accumulate");
  Engine<Array>(root.node().get(), seed, retain_graph).run();
}

/// As in a grad: memory of its own for every gradient.
template <class V>
static void stop_sharing(std::vector<V>& gradients) {
  for (V& gradient : gradients)
    if (gradient.defined() && !detail::array_of(gradient).owns_exclusively()) gradient = gradient.clone();
}

std::vector<Array> run_backward_to(std::span<Node* const> wanted, const Tensor& root, const Array& seed,
                                   bool retain_graph) {
  if (wanted.empty()) return {};
  const ProfileRange range("backward", "accumulate");
  std::vector<Array> found = Engine<Array>(root.node().get(), seed, retain_graph, nullptr, wanted).run();
  stop_sharing(found);
  return found;
}

std::vector<Tensor> run_backward_taped(std::span<Node* const> wanted, const Tensor& root,
                                       const Tensor& seed) {
  if (wanted.empty()) return {};
  const ProfileRange range("backward", "accumulate");
  const EnableGrad guard;  // for closures, hooks and the copies
  std::vector<Tensor> found =
      Engine<Tensor>(root.node().get(), seed, /*retain_graph=*/true, nullptr, wanted).run();
  stop_sharing(found);
  return found;
}

void run_backward_taped_within(const Node& node, const Tensor& root, const Tensor& seed) {
  Engine<Tensor>(root.node().get(), seed, /*retain_graph=*/true, &node).run();
}

void run_backward_within(const Node& node, const Tensor& root, const Array& seed) {
  // Only a backward pass calls a node's backward, so there is an outer pass.
  Engine<Array>(root.node().get(), seed, /*retain_graph=*/false, &node).run();
}

}  // namespace gradus
