#pragma once
// Modules of whatever type, known only by how they are called: what takes one of these takes the library's
// modules and a program's own alike.

#include <concepts>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

namespace detail {

/// A module and what it was made from, which copies share.
class AnyPart : public Module {
 public:
  /// The module as what it was made from, or nullptr when that was another type.
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
  /// The part, with the name of its type, which add() would no longer see.
  template <class Part>
  static const Module& named(const Part& part) {
    part.name_kind(typeid(Part));
    return part;
  }

  const std::type_info* type_;
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
  requires(!std::same_as<Part, AnyModule>) AnyModule(const Part& part)
      : AnyPart(part), call_([](const void* any, Args... args) -> Result {
          return (*static_cast<const Part*>(any))(static_cast<Args&&>(args)...);
        }) {
    static_assert(std::is_invocable_r_v<Result, const Part&, Args...>,
                  "the module needs an operator() const with the arguments that AnyModule names");
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
