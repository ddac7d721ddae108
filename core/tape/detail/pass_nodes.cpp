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
                     Memory& memory)
    : retain_graph_(retain_graph),
      within_(within),
      wanted_(wanted),
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
/// come before their inputs, and copies of a node that several users pushed are popped in a row.
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
    if (node->order < oldest_) break;  // and all still waiting are older
    nodes_.push_back(node);
    if (!node->is_leaf && (wanted_.empty() || !node->ran() || !is_wanted(node))) enter(*node);
    node->slot_.store(static_cast<std::uint32_t>(nodes_.size() - 1), std::memory_order_relaxed);
    for (const NodePtr& input : node->inputs)
      if (input) {
        heap_.push_back({input->order, input.get()});
        std::push_heap(heap_.begin(), heap_.end());
      }
  }
}

/// In a pass with wanted nodes: drops from nodes_ those that do not lead to one of them.
void PassNodes::keep_what_leads() {
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

/// Passes that retain the graph share its nodes; a pass that will free a node needs exclusive access.
void PassNodes::enter(Node& node) {
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

void PassNodes::leave(Node& node) {
  if (!node.is_leaf && !node.ran()) node.passes_.fetch_add(retain_graph_ ? -1 : 1);
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
