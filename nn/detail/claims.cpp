#include "gradus/nn/detail/claims.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/core/tape/detail/after_pass.h"

namespace gradus::nn {

namespace {

enum Mark : std::uint8_t { parameter = 1, claimed = 2, trained = 4 };

thread_local std::vector<NodePtr> unclaimed;
thread_local bool claiming = true;

bool has(const Node& leaf, Mark mark) { return (leaf.marks.load(std::memory_order_relaxed) & mark) != 0; }
void set(const Tensor& leaf, Mark mark) { leaf.node()->marks.fetch_or(mark, std::memory_order_relaxed); }

/// An unclaimed parameter is suspicious if the same pass has claimed ones; a pass without claimed ones
/// belongs to a model that is measured, not trained.
void look_for_unclaimed(std::span<Node* const> nodes) {
  const auto wanting = [](bool claim) {
    return [claim](const Node* node) {
      return has(*node, parameter) && node->requires_grad && has(*node, claimed) == claim;
    };
  };
  if (!unclaimed.empty() || std::none_of(nodes.begin(), nodes.end(), wanting(true))) return;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    if (wanting(false)(*node)) unclaimed.emplace_back(*node);
}

}  // namespace

void mark_parameter(const Tensor& leaf) {
  set_after_pass(look_for_unclaimed);
  set(leaf, parameter);
}

bool is_parameter(const Tensor& leaf) { return leaf.node() && has(*leaf.node(), parameter); }
NoClaims::NoClaims() : before_(std::exchange(claiming, false)) {}
NoClaims::~NoClaims() { claiming = before_; }
void mark_claimed(const Tensor& leaf) {
  if (claiming) set(leaf, claimed);
}
void mark_trained(const Tensor& leaf) { set(leaf, trained); }
bool is_trained(const Tensor& leaf) { return has(*leaf.node(), trained); }

void check_unclaimed_parameters(const char* caller) {
  const std::vector<NodePtr> suspects = std::exchange(unclaimed, {});
  for (const NodePtr& leaf : suspects)
    if (!has(*leaf, claimed))
      fail_with(
          "{}: {} {} received a gradient but is in no optimizer: its module was never added (declare it as "
          "`nn::Linear fc = add(\"fc\", nn::Linear(...));`) or added after the optimizer was made; freeze a "
          "parameter that should not be trained with requires_grad_(false)",
          caller, *leaf->label ? leaf->label : "a parameter", leaf->shape);
}

}  // namespace gradus::nn
