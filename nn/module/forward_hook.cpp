// Module: forward hooks.

#include <algorithm>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/module_node.h"
#include "gradus/nn/module/module.h"

namespace gradus::nn {

namespace {

/// A hook and the nodes that call it, until it is destroyed.
struct Listening {
  using Hook = std::shared_ptr<const ForwardHook::Function>;

  explicit Listening(Hook listener) : hook(std::move(listener)) { ++detail::forward_hooks; }
  ~Listening() {
    for (const auto& place : nodes)
      if (const auto node = place.lock()) std::erase(node->hooks, hook);
    --detail::forward_hooks;
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  Hook hook;
  std::vector<std::weak_ptr<ModuleNode>> nodes;
};

void listen(Listening& listening, const std::shared_ptr<ModuleNode>& node) {
  const auto& known = node->hooks;
  if (std::find(known.begin(), known.end(), listening.hook) != known.end()) return;  // a shared part
  listening.nodes.push_back(node);
  node->hooks.push_back(listening.hook);
  for (const auto& part : node->parts) listen(listening, part.node);
}

/// The module whose output this thread's hooks saw last.
thread_local const ModuleNode* latest = nullptr;

}  // namespace

ForwardHook Module::on_forward(ForwardHook::Function hook) const {
  check(hook != nullptr, "on_forward: expects a function of a module and its output, got none");
  const auto listening =
      std::make_shared<Listening>(std::make_shared<const ForwardHook::Function>(std::move(hook)));
  listen(*listening, node_);
  return ForwardHook(listening);
}

void Module::show(const Tensor& y) const {
  if (!y.defined()) return;         // the caller reports the error
  const auto hooks = node_->hooks;  // a copy: a hook may be removed during the calls
  for (const auto& hook : hooks) (*hook)(*this, y);
  latest = node_.get();
}

Tensor Module::call_and_show(const std::function<Tensor()>& call) const {
  latest = nullptr;
  Tensor y = call();
  if (latest != node_.get()) show(y);
  return y;
}

}  // namespace gradus::nn
