// Nodes' lifetime: shared ownership, destruction without recursion; and what threads may change of one node
// at the same time: its hooks and its gradient.

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/core/memory/detail/node_pool.h"
#include "gradus/core/tape/autocast.h"
#include "gradus/core/tape/autograd.h"
#include "gradus/core/tape/detail/next_reads.h"
#include "gradus/core/tensor.h"
#include "gradus/core/threads/detail/locks.h"

namespace gradus {

namespace {

std::atomic<std::int64_t> alive{0};
std::atomic<std::uint64_t> next_order{1};

thread_local Node* doomed = nullptr;  // nodes without owners, waiting for their turn
thread_local bool draining = false;

}  // namespace

void* Node::operator new(std::size_t bytes) { return node_pool::take(bytes); }
void Node::operator delete(void* memory, std::size_t bytes) { node_pool::give(memory, bytes); }

Node::Node() : order(next_order.fetch_add(1, std::memory_order_relaxed)), products(product_dtype()) {
  alive.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() {
  for (Hook* hook = hooks_.load(std::memory_order_relaxed); hook != nullptr;)
    delete std::exchange(hook, hook->older);
  alive.fetch_sub(1, std::memory_order_relaxed);
}

std::int64_t live_nodes() { return alive.load(std::memory_order_relaxed); }

// Deleting a node drops its inputs, which may drop theirs: a recursion as deep as the tape is long. So nodes
// queue up (linked through next_doomed_) and the outermost drop() deletes them one by one.
void Node::drop(Node* node) noexcept {
  node->next_doomed_ = doomed;
  doomed = node;
  if (draining) return;
  draining = true;
  while (doomed != nullptr) {
    Node* const next = doomed;
    doomed = next->next_doomed_;
    delete next;
  }
  draining = false;
}

void Node::add_hook(GradHook hook) {
  auto* const added = new Hook{std::move(hook), hooks_.load(std::memory_order_relaxed)};
  while (!hooks_.compare_exchange_weak(added->older, added, std::memory_order_release)) {
  }
}

namespace {
Array replacement(const GradHook& hook, const Array& gradient, const Node&) { return hook.plain(gradient); }
Tensor replacement(const GradHook& hook, const Tensor& gradient, const Node& node) {
  if (hook.taped) return hook.taped(gradient);
  if (hook.plain(gradient.array()).defined())
    fail_with(
        "on_grad: a hook of {} {} returned an Array where create_graph needs a gradient on the tape: let it "
        "take and return a Tensor",
        node.op, node.shape);
  return Tensor();
}
}  // namespace

/// In the order they were added, each with the result of the previous one. A hook may add others, even here:
/// they wait for the next visit.
template <class V>
V Node::call_hooks(V gradient) const {
  std::vector<const Hook*> newest_first;
  for (const Hook* hook = hooks_.load(std::memory_order_acquire); hook != nullptr; hook = hook->older)
    newest_first.push_back(hook);
  for (auto hook = newest_first.rbegin(); hook != newest_first.rend(); ++hook) {
    const std::uint32_t version = detail::array_of(gradient).storage().version();
    V other = replacement((*hook)->call, gradient, *this);
    if (detail::array_of(gradient).storage().version() != version)
      fail_with(
          "on_grad: a hook of {} {} wrote into the gradient, which other tensors may share: return another "
          "one, or change grad() after backward",
          op, shape);
    if (!other.defined()) continue;
    const Array& values = detail::array_of(other);
    if (values.shape() != shape || values.dtype() != dtype)
      fail_with("on_grad: a hook of {} {} {} returned a gradient {} {}", op, dtype, shape, values.dtype(),
                values.shape());
    gradient = std::move(other);
  }
  return gradient;
}
template Array Node::call_hooks(Array gradient) const;
template Tensor Node::call_hooks(Tensor gradient) const;

void Node::remember_first_input(const Array& x) {
  const ReadAhead reads = read_ahead(x);
  first_input_ = {reads.data, reads.bytes};
}

// Several passes may add here at once. Each takes the current gradient, adds its part without holding the
// lock, and stores the sum, unless another has stored something meanwhile: then it adds that too.
void Node::add_to_grad(Array gradient) {
  for (;;) {
    Array before;
    {
      const std::lock_guard guard(locks::gradients);
      if (!grad.defined() && gradient.owns_exclusively()) {
        grad = std::move(gradient);
        return;
      }
      before = std::exchange(grad, Array());
    }
    if (!before.defined()) {
      gradient = gradient.clone();  // what others hold too would change under them
      continue;
    }
    try {
      if (!before.owns_exclusively()) before = before.clone();
      before.add_(gradient);
    } catch (...) {  // no memory: what there was stays
      const std::lock_guard guard(locks::gradients);
      if (!grad.defined()) grad = std::move(before);
      throw;
    }
    gradient = std::move(before);
  }
}

}  // namespace gradus
