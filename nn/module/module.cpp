// Module: building and inspecting the tree.

#include "gradus/nn/module/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_set>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/nn/detail/module_node.h"
#include "gradus/nn/module/bf16_weights.h"

namespace gradus::nn {

namespace {

/// The name of a node in messages: "Linear", or "Module" for a struct whose type is not known yet.
std::string kind_of(const ModuleNode& node) { return node.kind.empty() ? "Module" : node.kind; }

/// The names used at one level: the node's own and those of its transparent parts.
std::vector<std::string> names_of(const ModuleNode& node) {
  std::vector<std::string> names;
  for (const auto& [name, values] : node.parameters) names.push_back(name);
  for (const auto& buffer : node.buffers) names.push_back(buffer.name);
  for (const auto& part : node.parts) {
    if (!part.name.empty()) {
      names.push_back(part.name);
      continue;
    }
    const std::vector<std::string> inner = names_of(*part.node);
    names.insert(names.end(), inner.begin(), inner.end());
  }
  return names;
}

void check_free(const ModuleNode& node, const std::string& name) {
  const std::vector<std::string> names = names_of(node);
  check(std::find(names.begin(), names.end(), name) == names.end(), "{}: the name '{}' is taken",
        kind_of(node), name);
}

void check_name(const ModuleNode& node, const std::string& name) {
  check(!name.empty() && name.find('.') == std::string::npos,
        "{}: expects a name that is not empty and has no dot, got '{}'", kind_of(node), name);
  check_free(node, name);
}

bool contains(ModuleNode& tree, const ModuleNode& wanted) {
  bool found = false;
  walk(tree, "", [&](const ModuleNode& node, const std::string&) { found = found || &node == &wanted; });
  return found;
}

/// Names the node's parameters for explain() and messages: "layers.0.linear1.weight", or "Linear.weight"
/// until the module is added.
void label(const ModuleNode& node) {
  const std::string place = *node.path ? node.path : kind_of(node);
  for (const auto& [name, values] : node.parameters) values.node()->label = intern(join(place, name));
}

/// Every parameter below `root`; a shared one appears under each of its names.
std::vector<StateDict::Entry> all_parameters(ModuleNode& root) {
  std::vector<StateDict::Entry> found;
  walk(root, "", [&](const ModuleNode& node, const std::string& path) {
    for (const auto& [name, values] : node.parameters) found.emplace_back(join(path, name), values);
  });
  return found;
}

/// Every parameter once, under its first name.
std::vector<StateDict::Entry> distinct_parameters(ModuleNode& root) {
  std::vector<StateDict::Entry> found = all_parameters(root);
  std::unordered_set<const Node*> seen;
  std::erase_if(
      found, [&](const StateDict::Entry& entry) { return !seen.insert(entry.second.node().get()).second; });
  return found;
}

}  // namespace

Module::Module(const std::string& kind) : node_(std::make_shared<ModuleNode>()) { node_->kind = kind; }

std::string detail::short_name(const std::type_info& type) {
  int status = 0;
  char* const full = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  const std::string name = status == 0 ? full : type.name();
  std::free(full);
  // "gradus::nn::Block<gradus::nn::PreLN>" -> "Block", "Family<int>::Inner" -> "Inner"
  std::size_t begin = 0, end = name.size();
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' && depth++ == 0) end = i;
    if (name[i] == '>') --depth;
    if (depth == 0 && name.compare(i, 2, "::") == 0) begin = i + 2, end = name.size();
  }
  return name.substr(begin, end - begin);
}

bool detail::is_library_layer(const Module& module) {
  const ModuleNode& node = *module.node_;
  constexpr const char* kLayers[] = {"Linear",    "Embedding", "LearnedPositions", "MultiheadAttention",
                                     "LayerNorm", "RMSNorm"};
  return !node.kind_of_type &&
         std::find(std::begin(kLayers), std::end(kLayers), node.kind) != std::end(kLayers);
}

void Module::name_kind(const std::type_info& type) const {
  if (!node_->kind.empty() || type == typeid(Module)) return;
  node_->kind = detail::short_name(type);
  node_->kind_of_type = true;
  label(*node_);
}

void Module::attach(const std::string& name, const Module& part) const {
  check(!contains(*part.node_, *node_), "{}: cannot add a module to itself or to one of its parts",
        kind_of(*node_));
  if (name.empty()) {
    for (const std::string& key : names_of(*part.node_)) check_free(*node_, key);
  } else {
    check_name(*node_, name);
  }
  node_->parts.push_back({name, part.node_});
  walk(*part.node_, join(node_->path, name), [](ModuleNode& node, const std::string& path) {
    node.path = intern(path);
    label(node);
  });
}

Registered Module::parameter(const std::string& name, Tensor values) const {
  check_name(*node_, name);
  check(values.defined(), "{}: parameter '{}' is an undefined tensor", kind_of(*node_), name);
  const bool shared = is_parameter(values);  // another module's: it is not changed
  if (!shared) {
    check(is_floating(values.dtype()),
          "{}: parameter '{}' expects f32 or f64, got {} {}: convert with .to(f32), or register it with "
          "buffer()",
          kind_of(*node_), name, values.dtype(), values.shape());
    check(values.is_leaf(), "{}: parameter '{}' {} is the output of {}: register its detach()",
          kind_of(*node_), name, values.shape(), values.node() ? values.node()->op : "");
    check(values.is_contiguous(), "{}: parameter '{}' {} is not contiguous: register its contiguous()",
          kind_of(*node_), name, values.shape());
    check(!Bf16Weights::on() || values.dtype() == f32,
          "{}: parameter '{}' expects f32 within a Bf16Weights, got {} {}: make the model with the default "
          "dtype f32",
          kind_of(*node_), name, values.dtype(), values.shape());
    if (Bf16Weights::on() && values.dim() >= 2) {
      // A leaf like any parameter, but of bf16, and never with a gradient.
      values = Tensor(values.array().to(bf16), values.requires_grad_().node());
      values.node()->dtype = bf16;
    } else {
      values.requires_grad_();
    }
    if (Bf16Weights::on()) values.requires_grad_(false);
    mark_parameter(values);
  }
  node_->parameters.emplace_back(name, values);
  if (!shared) label(*node_);
  return Registered(values);
}

Registered Module::buffer(const std::string& name, const Tensor& values, bool persistent) const {
  check_name(*node_, name);
  check(values.defined(), "{}: buffer '{}' is an undefined tensor", kind_of(*node_), name);
  node_->buffers.push_back({name, values.detach(), persistent});
  return Registered(node_->buffers.back().values);
}

Parameter& Parameter::operator=(const Registered& registered) {
  const Tensor& values = registered.values_;
  check(!defined(),
        "Parameter {}: cannot be replaced by {}: to change its values call copy_(values) under NoGrad",
        shape(), values.shape());
  Tensor::operator=(values);
  return *this;
}

void Module::expect_count(std::int64_t count) const {
  check(count >= 0, "{}: add_list expects a count of 0 or more, got {}", kind_of(*node_), count);
}

std::string Module::kind() const { return kind_of(*node_); }
const char* Module::path() const { return node_->path; }

Parameter Module::parameter(std::string_view name) const {
  std::string names;
  for (const auto& [key, values] : all_parameters(*node_)) {
    if (key == name) return Parameter(values);
    names += (names.empty() ? "" : ", ") + key;
  }
  fail_with("{}: no parameter '{}': it has {}", kind_of(*node_), name, names.empty() ? "none" : names);
}

const ListOf<StateDict::Entry> Module::named_parameters() const {
  ListOf<StateDict::Entry> found = distinct_parameters(*node_);
  // Once an optimizer has some of them, only an optimizer claims others: listing all of them, for example to
  // clip gradients, does not train parameters that were added late.
  const auto trained = [](const StateDict::Entry& entry) { return is_trained(entry.second); };
  if (std::none_of(found.begin(), found.end(), trained))
    for (const auto& [name, values] : found) mark_claimed(values);
  return found;
}

const TensorList Module::parameters() const {
  TensorList found;
  for (auto& [name, values] : named_parameters()) found.push_back(values);
  return found;
}

const ListOf<StateDict::Entry> Module::own_parameters() const { return node_->parameters; }

const ListOf<StateDict::Entry> Module::named_buffers() const {
  ListOf<StateDict::Entry> found;
  walk(*node_, "", [&](const ModuleNode& node, const std::string& path) {
    for (const auto& buffer : node.buffers) found.emplace_back(join(path, buffer.name), buffer.values);
  });
  return found;
}

const TensorList Module::buffers() const {
  TensorList found;
  for (auto& [name, values] : named_buffers()) found.push_back(values);
  return found;
}

ListOf<std::pair<std::string, Module>> Module::children() const {
  ListOf<std::pair<std::string, Module>> found;
  for (const auto& part : node_->parts) found.emplace_back(part.name, Module(part.node));
  return found;
}

ListOf<std::pair<std::string, Module>> Module::named_modules() const {
  ListOf<std::pair<std::string, Module>> found{{"", *this}};
  for (const auto& [name, child] : children())
    for (const auto& [inner, module] : child.named_modules()) found.emplace_back(join(name, inner), module);
  return found;
}

void Module::apply(const std::function<void(const Module&)>& f) const {
  for (const auto& part : node_->parts) Module(part.node).apply(f);
  f(*this);
}

std::int64_t Module::num_parameters() const {
  std::int64_t count = 0;
  for (const auto& [name, values] : distinct_parameters(*node_)) count += values.numel();
  return count;
}

}  // namespace gradus::nn
