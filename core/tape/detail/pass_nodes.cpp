#include "gradus/core/tape/detail/pass_nodes.h"

#include <algorithm>
#include <utility>

#include "gradus/core/detail/format.h"

namespace gradus {

namespace {
std::string in_module(const Node& node) {
  return *node.label ? fmt::format(" of module {}", node.label) : "";
}
}  // namespace

PassNodes::PassNodes(Node* root, bool retain_graph, const Node* within, std::span<Node* const> wanted,
                     const PassNodes* around, Memory& memory)
    : retain_graph_(retain_graph),
      within_(within),
      wanted_(wanted),
      around_(around),
      heap_(memory.heap),
      nodes_(memory.nodes) {
  for (const Node* node : wanted_) oldest_ = oldest_ == 0 ? node->order : std::min(oldest_, node->order);
  try {
    collect(root);
    if (!wanted_.empty()) keep_what_leads();
  } catch (...) {
    leave(0);
    throw;
  }
}

/// Fills nodes_ with everything that leads to the root, newest first. Pending nodes wait in a heap: users
/// come before their inputs, and copies of a node that several users pushed are popped in a row. At the
/// oldest wanted node the pass ends: it neither enters the node nor reads its inputs, so others may free it.
void PassNodes::collect(Node* root) {
  heap_.push_back({root->order, root});
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    Node* const node = heap_.back().node;
    heap_.pop_back();
    if (!nodes_.empty() && nodes_.back() == node) continue;
    if (within_ && node->order < within_->order) {
      if (!is_end(node))
        fail_with("{} backward: {} {}{} was used that was not in the forward pass", within_->op, node->op,
                  node->shape, in_module(*node));
      continue;
    }
    if (node->order <= oldest_) {  // all that still wait are older, or this node again
      if (node->order == oldest_) nodes_.push_back(node);
      break;
    }
    nodes_.push_back(node);
    if (!node->is_leaf) wanted_.empty() ? enter(*node) : look_at(*node);
    node->slot_.store(static_cast<std::uint32_t>(nodes_.size() - 1), std::memory_order_relaxed);
    for (const NodePtr& input : node->inputs)
      if (input) {
        heap_.push_back({input->order, input.get()});
        std::push_heap(heap_.begin(), heap_.end());
      }
  }
}

/// In a pass with wanted nodes: drops from nodes_ those that do not lead to one of them, and enters those the
/// pass goes through. The others are released, also wanted ones at which it ends.
void PassNodes::keep_what_leads() {
  held_.resize(nodes_.size());
  std::vector<bool> passed(nodes_.size()), kept(nodes_.size());
  for (std::size_t i = nodes_.size(); i-- > 0;) {  // inputs come after their users
    if (nodes_[i]->order > oldest_)
      for (const NodePtr& input : nodes_[i]->inputs) {
        const std::size_t at = input ? place_of(*input) : nodes_.size();
        if (at < nodes_.size() && kept[at]) passed[i] = true;
      }
    kept[i] = passed[i] || is_wanted(nodes_[i]);
  }
  // A released node may be destroyed, unless one that stays uses it.
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (held_[i] && !passed[i]) {
      leave(*nodes_[i]);
      held_[i] = false;
    }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!passed[i]) continue;
    std::int32_t alone = 1;  // this pass
    if (!held_[i] || (!retain_graph_ && !nodes_[i]->passes_.compare_exchange_strong(
                                            alone, Node::kFreeing, std::memory_order_acq_rel)))
      refuse(*nodes_[i], Node::kFreeing);
  }
  std::size_t n = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!kept[i]) continue;
    nodes_[i]->slot_.store(static_cast<std::uint32_t>(n), std::memory_order_relaxed);
    held_[n] = passed[i];
    nodes_[n++] = nodes_[i];
  }
  nodes_.resize(n);
  held_.resize(n);
}

/// Passes that retain the graph share its nodes; a pass that will free a node needs exclusive access.
void PassNodes::enter(Node& node) {
  std::int32_t passes = 0;
  const auto next = [&] { return retain_graph_ ? passes + 1 : Node::kFreeing; };
  while (!node.passes_.compare_exchange_weak(passes, next(), std::memory_order_acq_rel)) {
    if (passes < 0 || (passes > 0 && !retain_graph_)) {
      nodes_.pop_back();  // it is not this pass's
      refuse(node, passes);
    }
  }
}

/// A pass with wanted nodes must read the inputs of the newest node to find out whether it will go through
/// it; until then it shares the node. A freed node no longer knows its inputs: it may have led to a wanted
/// node, whose gradient would lack that part. That is an error.
void PassNodes::look_at(Node& node) {
  held_.resize(nodes_.size());
  std::int32_t passes = node.passes_.load(std::memory_order_relaxed);
  while (passes >= 0)
    if (node.passes_.compare_exchange_weak(passes, passes + 1, std::memory_order_acq_rel)) {
      held_.back() = true;
      return;
    }
  // A pass around this one waits for it, so what it will free can still be read.
  for (const PassNodes* outer = around_; outer != nullptr && passes == Node::kFreeing; outer = outer->around_)
    if (const std::size_t at = outer->place_of(node); at < outer->size() && outer->is_passed(at)) return;
  refuse(node, passes);
}

void PassNodes::leave(Node& node) {
  if (node.is_leaf) return;
  const std::int32_t passes = node.passes_.load(std::memory_order_relaxed);
  if (passes > Node::kFreed) node.passes_.fetch_add(passes == Node::kFreeing ? 1 : -1);
}

void PassNodes::refuse(const Node& node, std::int32_t passes) const {
  const auto [caller, remedy] =
      wanted_.empty() ? std::pair("backward", "call backward(/*retain_graph=*/true)")
                      : std::pair("grad", "set retain_graph, grad(y, {x}, {.retain_graph = true}),");
  if (passes == Node::kFreed)
    fail_with(
        "{}: {} {}{} was already passed by a backward that freed what it saved: call "
        "backward(/*retain_graph=*/true) the first time, or run the forward pass again",
        caller, node.op, node.shape, in_module(node));
  if (passes == Node::kFreedByGrad)
    fail_with(
        "{}: {} {}{} was already passed by a grad, vjp or hvp that freed what it saved: set its "
        "create_graph if the result is to be differentiated, else its retain_graph; detach() what is a "
        "constant; or run the forward pass again",
        caller, node.op, node.shape, in_module(node));
  fail_with(
      "{}: {} {}{} is being passed by another backward, of another thread or around this one: {} in "
      "both, or run the forward pass once for each",
      caller, node.op, node.shape, in_module(node), remedy);
}

void PassNodes::leave(std::size_t done) {
  for (std::size_t i = retain_graph_ ? 0 : done; i < nodes_.size(); ++i)
    if (is_passed(i)) leave(*nodes_[i]);
  nodes_.clear();
  heap_.clear();
}

bool PassNodes::is_wanted(const Node* node) const {
  return std::find(wanted_.begin(), wanted_.end(), node) != wanted_.end();
}

/// Where this pass, part of another, stops and the other continues.
bool PassNodes::is_end(const Node* node) const {
  return std::any_of(within_->inputs.begin(), within_->inputs.end(),
                     [&](const NodePtr& input) { return input.get() == node; });
}

/// Another pass has looked at the node since.
std::size_t PassNodes::searched(const Node& node) const {
  const auto found = std::lower_bound(nodes_.begin(), nodes_.end(), node.order,
                                      [](const Node* a, std::uint64_t order) { return a->order > order; });
  return found != nodes_.end() && *found == &node ? static_cast<std::size_t>(found - nodes_.begin())
                                                  : nodes_.size();
}

}  // namespace gradus
