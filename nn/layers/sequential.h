#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/nn/module/module.h"

namespace gradus::nn {

/// Modules and functions of a Tensor, one after the other; step i's parameters are called i.weight, ...
/// A function must not capture `this` of a module: modules are copied, by add() first of all.
/// `nn::Sequential net(nn::Linear(2, 16), [](const Tensor& x) { return tanh(x); }, nn::Linear(16, 1));`
struct Sequential : Module {
  template <class... Parts>
  requires(std::is_invocable_r_v<Tensor, const Parts&, const Tensor&>&&...) explicit Sequential(
      const Parts&... steps)
      : Module("Sequential") {
    (append(steps), ...);
  }

  template <class Step>
  requires std::is_invocable_r_v<Tensor, const Step&, const Tensor&>
  void append(const Step& step) {
    if constexpr (std::derived_from<Step, Module>) add(std::to_string(size()), step);
    steps_->emplace_back(step);
  }

  Tensor operator()(const Tensor& x) const {
    Tensor y = x;
    for (const auto& step : *steps_) y = step(y);
    return y;
  }
  std::size_t size() const { return steps_->size(); }

 private:
  using Steps = std::vector<std::function<Tensor(const Tensor&)>>;
  std::shared_ptr<Steps> steps_ = std::make_shared<Steps>();  // shared by copies, as parameters are
};

}  // namespace gradus::nn
