// Module: state dicts and modes.

#include <algorithm>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "gradus/core/array/dispatch.h"
#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/module_node.h"
#include "gradus/nn/module/module.h"

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

/// "\n  missing: norm.bias, norm.weight", or "" for an empty list.
std::string line(const char* what, const std::vector<std::string>& items, const char* separator = ", ") {
  if (items.empty()) return "";
  std::string text = fmt::format("\n  {}: ", what);
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? separator : "") + items[i];
  return text;
}

std::string shape_of(const Tensor& x) { return x.defined() ? to_string(x.shape()) : "an undefined tensor"; }

/// Why `given` cannot be copied into `own`, or "".
std::string mismatch(const std::string& key, const Tensor& own, const Tensor& given) {
  if (!given.defined() || given.shape() != own.shape())
    return fmt::format("{} expects {}, got {}", key, own.shape(), shape_of(given));
  const bool numbers = is_floating(given.dtype()) || is_half(given.dtype());
  if (given.dtype() != own.dtype() && !(numbers && (is_floating(own.dtype()) || is_half(own.dtype()))))
    return fmt::format("{} expects {} {}, got {}", key, own.dtype(), own.shape(), given.dtype());
  return "";
}

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.numel() > 0 && a.array().raw() == b.array().raw() && a.strides() == b.strides();
}

/// Whether both have the same bits in this dtype.
bool same_values(const Tensor& a, const Tensor& b, DType dtype) {
  if (same_memory(a, b)) return true;
  const Array x = a.array().to(dtype).contiguous(), y = b.array().to(dtype).contiguous();
  const auto bytes = static_cast<std::size_t>(x.numel()) * size_of(dtype);
  return bytes == 0 || std::memcmp(x.raw(), y.raw(), bytes) == 0;
}

/// Keys that share a parameter, such as a tied head's, but have different values in the state.
std::vector<std::string> torn(const StateDict& own, const StateDict& state) {
  std::vector<std::string> found;
  std::unordered_map<const void*, std::string> first;  // by memory
  for (const auto& [key, values] : own) {
    const Tensor* const given = state.find(key);
    if (given == nullptr || values.numel() == 0) continue;
    const auto [place, added] = first.try_emplace(values.array().raw(), key);
    if (!added && !same_values(state.at(place->second), *given, values.dtype()))
      found.push_back(place->second + " and " + key);
  }
  return found;
}

struct Copy {
  Tensor to, from;
};

/// The copies to make from a state that fits: all tensors except those that are the model's own memory.
std::vector<Copy> copies_into(const StateDict& own, const StateDict& state) {
  std::unordered_set<const void*> memory;
  for (const auto& [key, values] : own) memory.insert(values.array().storage().data());
  std::vector<Copy> copies;
  for (const auto& [key, values] : own) {
    const Tensor* const given = state.find(key);
    if (given == nullptr || same_memory(values, *given)) continue;
    // Values in another parameter's memory are cloned before any is written.
    const bool moves = memory.contains(given->array().storage().data());
    copies.push_back({values, moves ? given->detach().clone() : given->detach()});
  }
  return copies;
}

/// Whether keys have Hugging Face's names: "transformer.h.0.attn.c_attn.weight".
bool are_hugging_face_names(const std::vector<std::string>& keys) {
  constexpr std::string_view starts[] = {"transformer.h.", "h.0.",           "model.layers.",
                                         "model.encoder.", "model.decoder.", "bert.encoder.",
                                         "encoder.layer.", "encoder.block."};
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return std::any_of(std::begin(starts), std::end(starts),
                       [&](std::string_view start) { return key.starts_with(start); });
  });
}

/// "'fc1.weight'", or "" for an empty state.
std::string first_key(const StateDict& state) {
  return state.empty() ? "" : "'" + state.begin()->first + "'";
}

}  // namespace

LoadReport Module::load(const char* caller, const StateDict& state, const LoadOptions& options) const {
  const StateDict own = state_dict();
  const std::string who = kind() == "Module" ? "model" : kind();  // a user's type may be unknown
  LoadReport report;
  std::vector<std::string> mismatched;
  for (const auto& [key, values] : own) {
    const Tensor* const given = state.find(key);
    if (given == nullptr)
      report.missing.push_back(key);
    else if (const std::string problem = mismatch(key, values, *given); !problem.empty())
      mismatched.push_back(problem);
  }
  for (const auto& [key, values] : state)
    if (!own.contains(key)) report.unexpected.push_back(key);

  std::string problems = line("mismatched", mismatched, "; ");
  if (options.strict)
    problems = line("missing", report.missing) + line("unexpected", report.unexpected) + problems;
  if (mismatched.empty()) problems += line("one parameter here, but with different values", torn(own, state));
  if (!problems.empty() && are_hugging_face_names(report.unexpected))
    problems +=
        "\n  these are Hugging Face's names: load_pretrained() of GPT, Bert, T5 and others reads them";
  check(problems.empty(), "{}: the state does not fit this {}:{}", caller, who, problems);
  check(report.missing.size() < own.size() || own.empty() || state.empty(),
        "{}: no key of the state is one of this {}'s: it has {}, ..., this {} expects {}, ...", caller, who,
        first_key(state), who, first_key(own));

  const std::vector<Copy> copies = copies_into(own, state);
  check(!copies.empty() || report.missing.size() == own.size(),
        "{}: the state is this {}'s own memory, so nothing would change: state_dict() returns handles; to "
        "keep values during further training, use state_dict().clone()",
        caller, who);
  const NoGrad guard;
  for (const Copy& copy : copies) copy.to.copy_(copy.from);
  return report;
}

LoadReport Module::load_state_dict(const StateDict& state, const LoadOptions& options) const {
  return load("load_state_dict", state, options);
}

void Module::copy_parameters_from(const Module& other) const {
  check(
      !(node_ == other.node_),
      "copy_parameters_from: both are handles to the same {}: copies of a module share its parameters; build "
      "another one",
      kind() == "Module" ? "model" : kind());
  load("copy_parameters_from", other.state_dict(), {});
}

/// The module's node and those below it, collected before any is changed because walk() allocates names.
static std::vector<ModuleNode*> nodes_of(ModuleNode& root) {
  std::vector<ModuleNode*> nodes;
  walk(root, "", [&](ModuleNode& node, const std::string&) { nodes.push_back(&node); });
  return nodes;
}

void Module::train(bool on) const {
  for (ModuleNode* const node : nodes_of(*node_)) node->training = on;
}

bool Module::is_training() const { return node_->training && !EvalMode::covers(*node_); }

void Module::zero_grad() const {
  for (const ModuleNode* const node : nodes_of(*node_))
    for (const auto& [name, values] : node->parameters) values.zero_grad();
}

void Module::requires_grad_(bool on) const {
  const std::vector<ModuleNode*> nodes = nodes_of(*node_);
  if (on)  // before any of them changes
    for (const ModuleNode* const node : nodes)
      for (const auto& [name, values] : node->parameters) {
        check(!is_half(values.dtype()),
              "requires_grad_: parameter '{}' {} is {}, which is for inference: make the model without "
              "Bf16Weights, and "
              "use Autocast",
              name, values.shape(), values.dtype());
        check_floating("requires_grad_", values.array());
      }
  for (const ModuleNode* const node : nodes)
    for (const auto& [name, values] : node->parameters) Tensor(values).requires_grad_(on);
}

static thread_local EvalMode* innermost = nullptr;

EvalMode::EvalMode(const Module& model) : model_(model), outer_(innermost) {
  walk(*model.node_, "",
       [this](const ModuleNode& module, const std::string&) { modules_.push_back(&module); });
  std::sort(modules_.begin(), modules_.end(), std::less<>());
  innermost = this;
}

// Usually the innermost one; scopes in a std::optional may end in another order.
EvalMode::~EvalMode() {
  for (EvalMode** at = &innermost; *at != nullptr; at = &(*at)->outer_)
    if (*at == this) {
      *at = outer_;
      return;
    }
}

bool EvalMode::covers(const ModuleNode& module) {
  for (const EvalMode* scope = innermost; scope != nullptr; scope = scope->outer_)
    if (std::binary_search(scope->modules_.begin(), scope->modules_.end(), &module, std::less<>()))
      return true;
  return false;
}

}  // namespace gradus::nn
