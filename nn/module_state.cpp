// Module: values in and out, modes.

#include <algorithm>
#include <functional>

#include "gradus/core/format.h"
#include "gradus/nn/module.h"
#include "gradus/nn/module_node.h"

namespace gradus::nn {

StateDict Module::state_dict() const {
  StateDict state;
  const auto add_entry = [&](const std::string& key, const Tensor& values) {
    check(!state.contains(key), "state_dict: two tensors of this {} are called '{}'", kind(), key);
    state.set(key, values.detach());
  };
  walk(*node_, "", [&](const ModuleNode& node, const std::string& path) {
    for (const auto& [name, values] : node.parameters) add_entry(join(path, name), values);
    for (const auto& buffer : node.buffers)
      if (buffer.persistent) add_entry(join(path, buffer.name), buffer.values);
  });
  return state;
}

namespace {

/// "\n  missing: norm.bias, norm.weight", or nothing for an empty list.
std::string line(const char* what, const std::vector<std::string>& items, const char* separator = ", ") {
  if (items.empty()) return "";
  std::string text = fmt::format("\n  {}: ", what);
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? separator : "") + items[i];
  return text;
}

std::string shape_of(const Tensor& x) { return x.defined() ? to_string(x.shape()) : "an undefined tensor"; }

}  // namespace

LoadReport Module::load_state_dict(const StateDict& state, const LoadOptions& options) const {
  const StateDict own = state_dict();
  LoadReport report;
  std::vector<std::string> mismatched;
  for (const auto& [key, values] : own) {
    const Tensor* const given = state.find(key);
    if (given == nullptr)
      report.missing.push_back(key);
    else if (!given->defined() || given->shape() != values.shape())
      mismatched.push_back(fmt::format("{} expects {}, got {}", key, values.shape(), shape_of(*given)));
  }
  for (const auto& [key, values] : state)
    if (!own.contains(key)) report.unexpected.push_back(key);

  std::string problems = line("mismatched", mismatched, "; ");
  if (options.strict)
    problems = line("missing", report.missing) + line("unexpected", report.unexpected) + problems;
  check(problems.empty(), "load_state_dict: the state does not fit this {}:{}",
        kind() == "Module" ? "model" : kind(), problems);  // a model of the user's own has no better name

  const NoGrad guard;
  for (const auto& [key, values] : own)
    if (const Tensor* const given = state.find(key)) values.copy_(*given);
  return report;
}

void Module::train(bool on) const {
  walk(*node_, "", [&](ModuleNode& node, const std::string&) { node.training = on; });
}

bool Module::is_training() const { return node_->training && !EvalMode::covers(*node_); }

void Module::zero_grad() const {
  walk(*node_, "", [](const ModuleNode& node, const std::string&) {
    for (const auto& [name, values] : node.parameters) values.zero_grad();
  });
}

void Module::requires_grad_(bool on) const {
  walk(*node_, "", [&](const ModuleNode& node, const std::string&) {
    for (const auto& [name, values] : node.parameters) values.node()->requires_grad = on;
  });
}

static thread_local const EvalMode* innermost = nullptr;

EvalMode::EvalMode(const Module& model) : outer_(innermost) {
  walk(*model.node_, "",
       [this](const ModuleNode& module, const std::string&) { modules_.push_back(&module); });
  std::sort(modules_.begin(), modules_.end(), std::less<>());
  innermost = this;
}

EvalMode::~EvalMode() { innermost = outer_; }

bool EvalMode::covers(const ModuleNode& module) {
  for (const EvalMode* scope = innermost; scope != nullptr; scope = scope->outer_)
    if (std::binary_search(scope->modules_.begin(), scope->modules_.end(), &module, std::less<>()))
      return true;
  return false;
}

}  // namespace gradus::nn
