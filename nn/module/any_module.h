#pragma once
// AnyModule: a module of any type with a given call signature, from the library or a program.

#include <concepts>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

namespace detail {

/// A module and the typed module it was made from, which copies share.
class AnyPart : public Module {
 public:
  /// The module as the type it was made from, or nullptr if that is another type.
  /// `encoder.layers[0].as<nn::PreLNBlock>()->norm1`
  template <std::derived_from<Module> Part>
  const Part* as() const {
    return *type_ == typeid(Part) ? static_cast<const Part*>(part_.get()) : nullptr;
  }

 protected:
  template <class Part>
  explicit AnyPart(const Part& part)
      : Module(named(part)), part_(std::make_shared<const Part>(part)), type_(&typeid(Part)) {}

  std::shared_ptr<const void> part_;

 private:
  /// Returns the part after naming its kind, because add() no longer sees its type.
  template <class Part>
  static const Module& named(const Part& part) {
    part.name_kind(typeid(Part));
    return part;
  }

  const std::type_info* type_;
};

}  // namespace detail

/// A handle, like all modules, to a module that can be called with `Signature`.
/// `AnyModule<Tensor(const Tensor&)> norm = RMSNorm(64);`
template <class Signature>
class AnyModule;

template <class Result, class... Args>
class AnyModule<Result(Args...)> : public detail::AnyPart {
 public:
  template <std::derived_from<Module> Part>
  requires(!std::same_as<Part, AnyModule>) AnyModule(const Part& part)
      : AnyPart(part), call_([](const void* any, Args... args) -> Result {
          return (*static_cast<const Part*>(any))(static_cast<Args&&>(args)...);
        }) {
    static_assert(std::is_invocable_r_v<Result, const Part&, Args...>,
                  "the module needs an operator() const with the arguments of AnyModule's signature");
  }

  Result operator()(Args... args) const {
    const auto call = [&]() -> Result { return call_(part_.get(), static_cast<Args&&>(args)...); };
    if constexpr (std::same_as<Result, Tensor>)
      return report_call(call);
    else
      return call();
  }

 private:
  Result (*call_)(const void*, Args...);
};

}  // namespace gradus::nn
