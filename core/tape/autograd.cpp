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
// adds its accumulated gradient to its grad and keeps it until zero_grad(). If grad() requested certain
// gradients, the pass goes only where it must and returns them.
//
// After its closure has run, a node frees it and its inputs: memory falls during backward, and a second
// backward over the same nodes is an error unless retain_graph is set. Unreachable nodes are destroyed with
// the tensors that held them: evaluating a model leaves nothing behind.

#include "gradus/core/tape/autograd.h"

#include <algorithm>
#include <utility>

#include "gradus/core/detail/format.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/tape/detail/after_pass.h"
#include "gradus/core/tape/detail/anomaly.h"
#include "gradus/core/tape/detail/next_reads.h"
#include "gradus/core/tape/scope.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace {
thread_local const char* backward_op = nullptr;  // the op whose closure is running
thread_local ReadAhead next_reads;               // of the step after the one that is running
std::atomic<AfterPass> after_pass = nullptr;

/// Restores a variable at the end of a scope.
template <class T>
struct Restore {
  explicit Restore(T& place) : variable(place), before(place) {}
  ~Restore() { variable = before; }
  Restore(const Restore&) = delete;
  T& variable;
  T before;
};

std::string in_module(const Node& node) {
  return *node.label ? fmt::format(" of module {}", node.label) : "";
}
}  // namespace

ReadAhead next_step_reads() { return next_reads; }
AfterPass set_after_pass(AfterPass look) { return after_pass.exchange(look); }

void Saved::modified() const {
  fail_with(
      "{} backward: the {} {} it saved was changed in place after the forward pass: change it before the "
      "forward pass or after backward, or work on a clone()",
      backward_op ? backward_op : "saved", array_.dtype(), array_.shape());
}

/// One backward pass; with `within`, a part of another that ends at the inputs of that node; with `wanted`,
/// one that goes only where it leads to these nodes and keeps their gradients instead of adding to any grad.
///
/// A pass accumulates gradients in its own list, parallel to that of its nodes, so passes of several threads
/// may share nodes: a model's parameters, and what their losses have in common if all passes retain the
/// graph.
class Engine {
 public:
  Engine(Node* root, const Array& seed, bool retain_graph, const Node* within = nullptr,
         std::span<Node* const> wanted = {})
      : retain_graph_(retain_graph),
        within_(within),
        wanted_(wanted),
        found_(wanted.size()),
        root_(root),
        outer_(std::exchange(running, this)) {
    if (spare_alive) std::swap(lists_, static_cast<Lists&>(spare));
    for (const Node* node : wanted_) oldest_ = oldest_ == 0 ? node->order : std::min(oldest_, node->order);
    try {
      collect(root);
      if (!wanted_.empty()) keep_what_leads();
      if (pending_.size() < nodes_.size()) pending_.resize(nodes_.size());
      spent_.reserve(nodes_.size());
    } catch (...) {
      end();
      throw;
    }
    if (!nodes_.empty()) pending_[0] = seed;
  }

  ~Engine() { end(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Leaves the gradients of the wanted nodes in `found`.
  std::vector<Array> run() {
    const Restore reads(next_reads);  // of the pass this one may be part of
    const Restore op(backward_op);
    for (; done_ < nodes_.size(); ++done_) {
      next_reads = done_ + 1 < nodes_.size() ? reads_of(*nodes_[done_ + 1]) : reads.before;
      visit(done_, std::move(pending_[done_]));
      if (pending_[done_].defined()) pending_[done_] = Array();
    }
    if (const AfterPass look = after_pass.load(std::memory_order_relaxed); look && wanted_.empty())
      look(nodes_);
    return std::move(found_);
  }

  /// Whether the running pass needs the gradient of this input.
  static bool leads(const Node& input) {
    return !running || running->wanted_.empty() || running->place_of(input) < running->nodes_.size();
  }

 private:
  static ReadAhead reads_of(const Node& node) { return {node.first_input_.data, node.first_input_.bytes}; }

  /// Fills nodes_ with everything that leads to the root, newest first. Pending nodes wait in a heap: users
  /// come before their inputs, and copies of a node that several users pushed are popped in a row.
  void collect(Node* root) {
    std::vector<Waiting>& heap = lists_.heap;
    heap.push_back({root->order, root});
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      Node* const node = heap.back().node;
      heap.pop_back();
      if (!nodes_.empty() && nodes_.back() == node) continue;
      if (within_ && node->order < within_->order) {
        if (!is_end(node))
          fail_with("{} backward: {} {}{} was used that was not in the forward pass", within_->op, node->op,
                    node->shape, in_module(*node));
        continue;
      }
      if (node->order < oldest_) break;  // and all still waiting are older
      nodes_.push_back(node);
      if (!node->is_leaf && (wanted_.empty() || !node->ran() || !is_wanted(node))) enter(*node);
      node->slot_.store(static_cast<std::uint32_t>(nodes_.size() - 1), std::memory_order_relaxed);
      for (const NodePtr& input : node->inputs)
        if (input) {
          heap.push_back({input->order, input.get()});
          std::push_heap(heap.begin(), heap.end());
        }
    }
  }

  /// In a pass with wanted nodes: drops from nodes_ those that do not lead to one of them.
  void keep_what_leads() {
    std::vector<bool> passed(nodes_.size()), kept(nodes_.size());
    passed_.reserve(nodes_.size());
    for (std::size_t i = nodes_.size(); i-- > 0;) {  // inputs come after their users
      for (const NodePtr& input : nodes_[i]->inputs) {
        const std::size_t at = input ? place_of(*input) : nodes_.size();
        if (at < nodes_.size() && kept[at]) passed[i] = true;
      }
      kept[i] = passed[i] || is_wanted(nodes_[i]);
    }
    std::size_t n = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node* const node = nodes_[i];
      if (!passed[i]) leave(*node);
      if (!kept[i]) continue;
      passed_.push_back(passed[i]);
      node->slot_.store(static_cast<std::uint32_t>(n), std::memory_order_relaxed);
      nodes_[n++] = node;
    }
    nodes_.resize(n);
  }

  /// Whether node i's gradient is passed on: the pass may end at a wanted node.
  bool is_passed(std::size_t i) const { return passed_.empty() || passed_[i]; }

  bool is_wanted(const Node* node) const {
    return std::find(wanted_.begin(), wanted_.end(), node) != wanted_.end();
  }

  /// Where this pass, part of another, stops and the other continues.
  bool is_end(const Node* node) const {
    return std::any_of(within_->inputs.begin(), within_->inputs.end(),
                       [&](const NodePtr& input) { return input.get() == node; });
  }

  /// Passes that retain the graph share its nodes; a pass that will free a node needs exclusive access.
  void enter(Node& node) {
    std::int32_t passes = 0;
    const auto next = [&] { return retain_graph_ ? passes + 1 : Node::kFreeing; };
    while (!node.passes_.compare_exchange_weak(passes, next(), std::memory_order_acq_rel)) {
      if (passes < 0 || (passes > 0 && !retain_graph_)) nodes_.pop_back();  // it is not this pass's
      const auto [caller, remedy] =
          wanted_.empty() ? std::pair("backward", "call backward(/*retain_graph=*/true)")
                          : std::pair("grad", "set retain_graph, grad(y, {x}, {.retain_graph = true}),");
      if (passes == Node::kFreed)
        fail_with(
            "{}: {} {}{} was already passed by a backward that freed what it saved: {} the first time, or "
            "run the forward pass again",
            caller, node.op, node.shape, in_module(node), remedy);
      if (passes == Node::kFreeing || (passes > 0 && !retain_graph_))
        fail_with(
            "{}: {} {}{} is being passed by another backward, of another thread or around this one: {} in "
            "both, or run the forward pass once for each",
            caller, node.op, node.shape, in_module(node), remedy);
    }
  }

  void leave(Node& node) {
    if (!node.is_leaf && !node.ran()) node.passes_.fetch_add(retain_graph_ ? -1 : 1);
  }

  /// After the pass, or an exception: releases nodes that were not freed and discards partial gradients.
  void end() {
    running = outer_;
    for (std::size_t i = retain_graph_ ? 0 : done_; i < nodes_.size(); ++i)
      if (is_passed(i)) leave(*nodes_[i]);
    if (done_ < nodes_.size())
      for (Array& gradient : pending_) gradient = Array();
    nodes_.clear();
    spent_.clear();
    lists_.heap.clear();
    if (spare_alive && pending_.size() <= kKept) std::swap(lists_, static_cast<Lists&>(spare));
  }

  /// Its number in nodes_, or nodes_.size() where it has none.
  std::size_t place_of(const Node& node) const {
    const std::size_t hint = node.slot_.load(std::memory_order_relaxed);
    if (hint < nodes_.size() && nodes_[hint] == &node) return hint;
    // Another pass has looked at the node since.
    const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), node.order,
                                        [](const Node* a, std::uint64_t order) { return a->order > order; });
    return found != nodes_.end() && *found == &node ? static_cast<std::size_t>(found - nodes_.begin())
                                                    : nodes_.size();
  }

  /// The gradient accumulated so far by a node of this pass, or one where it ends.
  Array& pending(const Node& node) {
    if (within_ && node.order < within_->order) return outer_->pending(node);
    const std::size_t place = place_of(node);
    return place < nodes_.size() ? pending_[place] : unwanted_ = Array();
  }

  void visit(std::size_t number, Array&& gradient) {
    Node& node = *nodes_[number];
    if (gradient.defined()) {
      if (node.hooks_.load(std::memory_order_relaxed) != nullptr) {
        gradient = node.call_hooks(std::move(gradient));
        if (detail::anomaly && detail::has_nan(gradient))
          fail_with("detect_anomaly: a hook of {} {} was passed or returned NaN", node.op, node.shape);
      }
      for (std::size_t i = 0; i < wanted_.size(); ++i)
        if (wanted_[i] == &node) found_[i] = gradient;
      if (!node.is_leaf && is_passed(number))
        propagate(node, std::move(gradient));
      else if (node.is_leaf && node.requires_grad && wanted_.empty())
        node.add_to_grad(std::move(gradient));
    }
    if (!node.is_leaf && !retain_graph_ && is_passed(number)) {
      node.free_saved();
      spent_.push_back(std::move(node.inputs));
      node.inputs.clear();
      node.passes_.store(Node::kFreed, std::memory_order_release);
    }
  }

  void propagate(Node& node, Array&& gradient) {
    const Scope scope(node.label);
    if (detail::watcher) detail::watcher->end_lap();
    backward_op = node.op;
    Grads grads = node.backward(gradient, Needs(node));
    if (grads.size() != node.inputs.size())
      fail_with("{} backward: returned {} gradients for {} inputs", node.op, grads.size(),
                node.inputs.size());
    for (std::size_t i = 0; i < grads.size(); ++i)
      if (grads[i].write() && node.inputs[i] && leads(*node.inputs[i])) write_into(node, i, grads[i]);
    if (detail::watcher) detail::watcher->backward_ends(node.op, node.label, gradient, grads);
    if (node.retain_grad && wanted_.empty())
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

  struct Waiting {
    std::uint64_t order;
    Node* node;
    bool operator<(const Waiting& other) const { return order < other.order; }
  };
  struct Lists {
    std::vector<Waiting> heap;
    std::vector<Node*> nodes;    // newest first
    std::vector<Array> pending;  // their gradients so far; there may be extra, undefined ones
    std::vector<std::vector<NodePtr>> spent;
  };
  struct Spare : Lists {
    ~Spare() { spare_alive = false; }
  };
  static constexpr std::size_t kKept = 4096;  // longer lists are not kept for the next pass

  bool retain_graph_;
  const Node* within_;
  std::span<Node* const> wanted_;  // if any, no grad is touched
  std::vector<Array> found_;       // their gradients
  std::vector<bool> passed_ = {};  // with wanted nodes: see is_passed
  std::uint64_t oldest_ = 0;       // older nodes do not count
  Array unwanted_ = {};
  // Every node of the pass stays until it ends: the root by this, the others by their users' inputs, which
  // are kept in `spent`.
  NodePtr root_;
  Engine* outer_;  // this thread's pass that contains this one, or null
  Lists lists_;
  std::vector<Node*>& nodes_ = lists_.nodes;
  std::vector<Array>& pending_ = lists_.pending;
  std::vector<std::vector<NodePtr>>& spent_ = lists_.spent;
  std::size_t done_ = 0;  // nodes visited

  static thread_local Engine* running;
  static thread_local Spare spare;       // the memory of the last pass of this thread
  static thread_local bool spare_alive;  // not when a destructor of a static object runs backward
};

thread_local Engine* Engine::running = nullptr;
thread_local Engine::Spare Engine::spare;
thread_local bool Engine::spare_alive = true;

bool Needs::operator[](std::size_t input) const {
  const NodePtr& node = node_->inputs[input];
  return node && node->requires_grad && Engine::leads(*node);
}

void run_backward(const Tensor& root, const Array& seed, bool retain_graph) {
  check(root.requires_grad(),
        "backward: the tensor {} does not require grad: no input did when it was computed, or NoGrad was on",
        root.shape());
  check(seed.shape() == root.shape() && seed.dtype() == root.dtype(),
        "backward: expects a gradient {} {}, got {} {}", root.dtype(), root.shape(), seed.dtype(),
        seed.shape());
  const ProfileRange range("backward", "accumulate");
  Engine(root.node().get(), seed, retain_graph).run();
}

std::vector<Array> run_backward_to(std::span<Node* const> wanted, const Tensor& root, const Array& seed,
                                   bool retain_graph) {
  if (wanted.empty()) return {};
  const ProfileRange range("backward", "accumulate");
  std::vector<Array> found = Engine(root.node().get(), seed, retain_graph, nullptr, wanted).run();
  for (Array& gradient : found)  // as in a grad: memory not shared
    if (gradient.defined() && !gradient.owns_exclusively()) gradient = gradient.clone();
  return found;
}

void run_backward_within(const Node& node, const Tensor& root, const Array& seed) {
  // Only a backward pass calls a node's backward, so there is an outer pass.
  Engine(root.node().get(), seed, /*retain_graph=*/false, &node).run();
}

}  // namespace gradus
