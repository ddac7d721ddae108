#pragma once
// Modules of whatever type, known only by how they are called: what takes one of these takes the library's
// modules and a program's own alike.

#include <any>
#include <concepts>
#include <type_traits>
#include <utility>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

namespace detail {

/// A module and what it was made from.
class AnyPart : public Module {
 public:
  /// The module as what it was made from, or nullptr when that was another type.
  /// `encoder.layers[0].as<nn::PreLNBlock>()->norm1`
  template <std::derived_from<Module> Part>
  const Part* as() const {
    return std::any_cast<Part>(&part_);
  }

 protected:
  template <class Part>
  explicit AnyPart(const Part& part) : Module(named(part)), part_(part) {}

  std::any part_;

 private:
  /// The part, with the name of its type, which add() would no longer see.
  template <class Part>
  static const Module& named(const Part& part) {
    part.name_kind(typeid(Part));
    return part;
  }
};

}  // namespace detail

/// A handle, as all modules are, to a module that can be called as `Signature` says.
/// `AnyModule<Tensor(const Tensor&)> norm = RMSNorm(64);`
template <class Signature>
class AnyModule;

template <class Result, class... Args>
class AnyModule<Result(Args...)> : public detail::AnyPart {
 public:
  template <std::derived_from<Module> Part>
  requires(!std::derived_from<Part, AnyModule> && std::is_invocable_r_v<Result, const Part&, Args...>)
      AnyModule(const Part& part)
      : AnyPart(part), call_([](const std::any& any, Args... args) -> Result {
          return (*std::any_cast<Part>(&any))(static_cast<Args&&>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(part_, static_cast<Args&&>(args)...); }

 private:
  Result (*call_)(const std::any&, Args...);
};

}  // namespace gradus::nn
