// explain(): the tape as text.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "gradus/core/detail/format.h"
#include "gradus/core/tensor.h"

namespace gradus {

namespace {
// Numbers count from 1 at the oldest node shown, so the text does not depend on what ran before.
using Numbers = std::unordered_map<const Node*, std::size_t>;

std::string inputs_of(const Node& node, const Numbers& numbers) {
  if (node.ran()) return "(freed by backward)";
  std::string text;
  for (const NodePtr& input : node.inputs) {
    if (!text.empty()) text += ", ";
    text += input ? fmt::format("#{}", numbers.at(input.get())) : "constant";
  }
  return text;
}

/// Everything reachable from `root`, newest first.
std::vector<const Node*> reachable(const Node* root) {
  std::vector<const Node*> nodes, stack{root};
  std::unordered_set<const Node*> seen{root};
  while (!stack.empty()) {
    const Node* const node = stack.back();
    stack.pop_back();
    nodes.push_back(node);
    for (const NodePtr& input : node->inputs)
      if (input && seen.insert(input.get()).second) stack.push_back(input.get());
  }
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->order > b->order; });
  return nodes;
}
}  // namespace

std::string explain(const Tensor& root) {
  if (!root.node()) return fmt::format("no tape: {} {} is a constant\n", root.dtype(), root.shape());
  const std::vector<const Node*> nodes = reachable(root.node().get());
  Numbers numbers;
  std::size_t op_width = 0, shape_width = 0;
  for (const Node* node : nodes) {
    numbers[node] = nodes.size() - numbers.size();
    op_width = std::max(op_width, std::char_traits<char>::length(node->op));
    shape_width = std::max(shape_width, to_string(node->shape).size());
  }
  std::string text;
  for (const Node* node : nodes) {
    std::string line = fmt::format("#{:<4} {:<{}}  {:<{}}", numbers[node], node->op, op_width,
                                   to_string(node->shape), shape_width);
    if (!node->is_leaf) line += "  <- " + inputs_of(*node, numbers);
    if (*node->label) line += fmt::format("  ({})", node->label);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace gradus
