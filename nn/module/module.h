#pragma once
// Module: a part of a model that owns parameters.
//
// A module is a handle to its place in the parameter tree. Declaring a part, naming it and registering it are
// one line, and calling it is an ordinary call operator:
//
//   struct Net : nn::Module {
//     nn::Linear fc1 = add("fc1", nn::Linear(2, 16));
//     nn::Linear fc2 = add("fc2", nn::Linear(16, 1));
//     Tensor operator()(const Tensor& x) const { return fc2(tanh(fc1(x))); }
//   };
//
// Its parameters are then called fc1.weight, fc1.bias, fc2.weight, fc2.bias, in that order. Copies of a
// module are handles to the same parameters. For a second model with separate values, build it like the first
// and copy them: `Net twin; twin.copy_parameters_from(net);`, for a GPT `nn::GPT twin(gpt.options());`. There
// is no clone(): Module does not know the members of a derived struct, so its copy would still hold handles
// to the first model's parts. A module cannot be assigned, because an optimizer would keep the old
// parameters. An optional part is emplaced:
//
//   std::optional<nn::Linear> head;
//   if (wanted) head.emplace(add("head", nn::Linear(16, 1)));
//
// Two layers share a parameter (tying) when one is built with the other's: it is counted and trained once and
// saved under both names.
//
//   nn::Embedding embedding = add("embedding", nn::Embedding(65, 16));
//   nn::Linear head = add("head", nn::Linear(embedding.weight, {.bias = false}));

#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tape/scope.h"
#include "gradus/core/tensor.h"
#include "gradus/nn/module/forward_hook.h"
#include "gradus/nn/module/parameter.h"

namespace gradus::nn {

struct ModuleNode;

struct LoadOptions {
  bool strict = true;  // every key of the model must be in the file, and the other way round
};

/// The keys that did not match; both empty after a strict load.
struct LoadReport {
  std::vector<std::string> missing, unexpected;  // keys the file lacks; keys the model lacks
};

class Module;

namespace detail {
/// The name of a type without namespaces and template arguments: "Block".
std::string short_name(const std::type_info& type);
/// Whether the module is one of the library's layers with weights; a user's type of the same name is not.
bool is_library_layer(const Module& module);
/// summary(), with outputs if there is a call.
std::string summary_of_call(const Module& model, const std::function<void()>* call);

/// A deleted move constructor prevents implicit moves of derived classes, so that a move is a copy. As a
/// virtual base it affects every class derived from Module.
struct CopyOnly {
  CopyOnly() = default;
  CopyOnly(const CopyOnly&) = default;
  CopyOnly(CopyOnly&&) = delete;
  CopyOnly& operator=(const CopyOnly&) = default;
};
}  // namespace detail

class Module : public virtual detail::CopyOnly {
 public:
  Module() : Module("") {}
  /// `kind` is the name in errors and summary(): "Linear". Without one, add() uses the type's name.
  explicit Module(const std::string& kind);
  // A move is a copy: after `Net b = std::move(a);` both are the same model.
  Module(const Module&) = default;
  Module& operator=(const Module&) = delete;  // build with the right part (emplace), or copy_parameters_from

  // --- building the tree; names have no dot and are unique, a parameter's is not empty

  /// Registers a part and returns it. With the name "" its keys are at this level.
  template <std::derived_from<Module> Part>
  Part add(const std::string& name, Part part) const {
    part.name_kind(typeid(Part));
    attach(name, part);
    return part;
  }
  /// Registers make(0) .. make(count - 1) as name.0, name.1, ...
  template <std::invocable<int> Make>
  auto add_list(const std::string& name, std::int64_t count, const Make& make) const {
    expect_count(count);
    using Part = std::invoke_result_t<Make, int>;
    ListOf<Part> parts;
    const Module list = add(name, Module("List"));
    for (int i = 0; i < count; ++i) parts.push_back(list.add(std::to_string(i), make(i)));
    return parts;
  }
  /// Registers a trainable leaf: `nn::Parameter weight = parameter("weight", randn({3, 2}));` Shares another
  /// module's parameter if given one.
  Registered parameter(const std::string& name, Tensor values) const;
  /// Registers a tensor that is saved with the model but not trained; `persistent = false`: not saved either.
  /// `nn::Buffer mean = buffer("mean", zeros({3}));`
  Registered buffer(const std::string& name, const Tensor& values, bool persistent = true) const;

  // --- contents, named relative to this module, in the order of registration: its own before those of parts

  std::string kind() const;  // "Linear": its name in errors and summary()
  /// Its path in the model, "layers.3.self_attn"; "" for the model itself.
  const char* path() const;
  /// A parameter by name: `block.parameter("linear1.weight")`; throws for an unknown name, listing all names.
  Parameter parameter(std::string_view name) const;
  /// Every parameter once, even if shared. For the optimizer. (The lists are const, so that
  /// `for (Tensor& w : model.parameters()) w = ...`, which would change nothing, does not compile.)
  const TensorList parameters() const;
  const ListOf<StateDict::Entry> named_parameters() const;
  /// Only this module's own parameters, without those of its parts.
  const ListOf<StateDict::Entry> own_parameters() const;
  const TensorList buffers() const;
  const ListOf<StateDict::Entry> named_buffers() const;
  /// Direct parts.
  ListOf<std::pair<std::string, Module>> children() const;
  /// This module, as "", then all parts below it; a part registered as "" has the name of its parent.
  ListOf<std::pair<std::string, Module>> named_modules() const;
  /// Calls f for every part and then for this module: `model.apply([](const nn::Module& m) { ... });`
  void apply(const std::function<void(const Module&)>& f) const;
  std::int64_t num_parameters() const;

  // --- values

  /// Parameters and persistent buffers: handles without a tape, not copies. To keep the values during further
  /// training: `const StateDict best = model.state_dict().clone();`
  StateDict state_dict() const;
  /// Copies the values in; converts between f32 and f64. Throws, changing nothing, when keys, shapes or
  /// dtypes do not fit, when the values of a shared parameter differ, or when there is nothing to copy: no
  /// key fits, or the state is this model's own memory.
  LoadReport load_state_dict(const StateDict& state, const LoadOptions& options = {}) const;
  /// Copies the parameters and persistent buffers of another model with the same keys and shapes. This model
  /// keeps its mode, which parameters are frozen, its gradients and its other buffers.
  void copy_parameters_from(const Module& other) const;

  void forward(const auto&...) const = delete;  // call the module: model(x)

  // --- modes, for this module and all below it

  /// Training mode (dropout on), the initial mode. It does not affect gradients: see NoGrad.
  void train(bool on = true) const;
  void eval() const { train(false); }
  bool is_training() const;
  void zero_grad() const;
  /// Freezes (false) or unfreezes the parameters.
  void requires_grad_(bool on = true) const;

  // --- outputs

  /// Calls `hook(module, y)` with every output of this module and of all modules below it now, on the thread
  /// that computes it (with checkpoint() again in backward), until the returned object is destroyed. A hook
  /// cannot change y; y.on_grad() in it sees the gradient.
  /// `const nn::ForwardHook hook = net.on_forward([](const nn::Module& m, const Tensor& y) { ... });`
  ///
  /// A hook sees the library's modules when called by () (for LSTM and GRU their y), and user modules that
  /// Sequential, AnyModule and stacks call; other user modules, and the whole model, if operator() returns
  /// report(y). It does not see connections of a Block, functions in a Sequential, and GPT's logits in loss()
  /// and next_logits(). No other thread may call the model while hooks are added or removed.
  [[nodiscard]] ForwardHook on_forward(ForwardHook::Function hook) const;
  /// Shows y to the hooks and returns it: the last line of a user's operator().
  /// `return report(fc2(tanh(h)));`
  Tensor report(Tensor y) const {
    if (detail::forward_hooks.load(std::memory_order_relaxed) != 0) show(y);
    return y;
  }
  /// Returns the result of `call`, a call of this module, and shows it to the hooks unless the module did so
  /// itself. For containers of modules of any type.
  template <class Call>
  Tensor report_call(const Call& call) const {
    return detail::forward_hooks.load(std::memory_order_relaxed) == 0 ? call() : call_and_show(call);
  }

  /// True when both are handles to the same module.
  friend bool operator==(const Module& a, const Module& b) { return a.node_ == b.node_; }

  /// Sets the kind to the name of a C++ type, unless the module has one.
  void name_kind(const std::type_info& type) const;

 private:
  friend class EvalMode;
  friend bool detail::is_library_layer(const Module& module);
  friend std::string detail::summary_of_call(const Module& model, const std::function<void()>* call);
  explicit Module(std::shared_ptr<ModuleNode> node) : node_(std::move(node)) {}
  void attach(const std::string& name, const Module& part) const;
  LoadReport load(const char* caller, const StateDict& state, const LoadOptions& options) const;
  void expect_count(std::int64_t count) const;
  void show(const Tensor& y) const;
  Tensor call_and_show(const std::function<Tensor()>& call) const;

  std::shared_ptr<ModuleNode> node_;
};

/// Sets eval mode for the model and all modules below it during one scope, on this thread only: several
/// threads may generate or evaluate with one model, whose own mode does not change. `EvalMode guard(model);`
class [[nodiscard]] EvalMode {
 public:
  [[nodiscard]] explicit EvalMode(const Module& model);
  ~EvalMode();
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

  /// Whether an EvalMode scope on this thread contains the module.
  static bool covers(const ModuleNode& module);

 private:
  Module model_;                            // keeps its nodes alive
  std::vector<const ModuleNode*> modules_;  // sorted
  EvalMode* outer_;
};

/// A table as text: every module with its kind, parameter shapes and count, and totals, including buffers.
/// Functions in a Sequential are not modules: they have a number but no row.
std::string summary(const Module& model);
/// The same, with the model's own type as its kind.
template <std::derived_from<Module> Model>
std::string summary(const Model& model) {
  model.name_kind(typeid(Model));
  return summary(static_cast<const Module&>(model));
}
/// `std::cout << model;` prints the same.
template <std::derived_from<Module> Model>
std::ostream& operator<<(std::ostream& out, const Model& model) {
  return out << summary(model);
}
/// The same with the shapes of the outputs of model(input, inputs...), which it calls in eval mode and
/// without a tape: the model's own and those that hooks of on_forward see, the last output of each module.
/// `std::cout << nn::summary(net, zeros({1, 3, 32, 32}));`
template <std::derived_from<Module> Model, class Input, class... Inputs>
requires std::invocable<const Model&, const Input&, const Inputs&...> std::string summary(
    const Model& model, const Input& input, const Inputs&... inputs) {
  model.name_kind(typeid(Model));
  const std::function<void()> call = [&] {
    if constexpr (std::is_invocable_r_v<Tensor, const Model&, const Input&, const Inputs&...>)
      model.report_call([&]() -> Tensor { return model(input, inputs...); });
    else
      model(input, inputs...);
  };
  return detail::summary_of_call(model, &call);
}

}  // namespace gradus::nn
