#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradus/nn/module/module.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

/// One step of a Sequential: a module or a function, Tensor -> Tensor, or the name of an op, such as tanh.
class Step {
 public:
  Step() = default;  // none
  Step(Tensor (*op)(const Tensor&)) : call_(op) {}
  Step(Tensor (*op)(const Tensor&, GeluForm))
      : call_([op](const Tensor& x) { return op(x, GeluForm::erf); }) {}
  template <class F>
  requires(!std::same_as<F, Step>) Step(const F& f) {
    constexpr bool callable = std::is_invocable_r_v<Tensor, const F&, const Tensor&>;
    static_assert(
        callable,
        "a step of Sequential needs `Tensor operator()(const Tensor& x) const`; wrap anything else: "
        "[](const Tensor& x) { return softmax(x, -1); }, for a GRU { return gru(x).y; }");
    if constexpr (callable && !std::derived_from<F, Module>) call_ = f;
    if constexpr (callable && std::derived_from<F, Module>) {
      call_ = [f](const Tensor& x) { return f.report_call([&]() -> Tensor { return f(x); }); };
      register_ = [f](const Module& parent, const std::string& name) { parent.add(name, f); };
    }
  }

 private:
  friend struct Sequential;
  std::function<Tensor(const Tensor&)> call_;
  std::function<void(const Module& parent, const std::string& name)> register_;
};

/// Applies modules and functions of a Tensor in order; step i's parameters are called i.weight, ...
/// A function must not capture `this` of a module, because modules are copied, for example by add().
/// Between parentheses the compiler chooses which step is made, and draws its weights, first; in braces the
/// first one does: `nn::Sequential net{nn::Linear(2, 16), tanh, nn::Linear(16, 1)};`
struct Sequential : Module {
  /// Up to 16 steps; append() takes more.
  explicit Sequential(const Step& a = {}, const Step& b = {}, const Step& c = {}, const Step& d = {},
                      const Step& e = {}, const Step& f = {}, const Step& g = {}, const Step& h = {},
                      const Step& i = {}, const Step& j = {}, const Step& k = {}, const Step& l = {},
                      const Step& m = {}, const Step& n = {}, const Step& o = {}, const Step& p = {})
      : Module("Sequential") {
    for (const Step* step : {&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m, &n, &o, &p})
      if (step->call_) append(*step);
  }

  /// Adds a step at the end.
  void append(const Step& step) {
    if (step.register_) step.register_(*this, std::to_string(size()));
    steps_->push_back(step.call_);
  }

  Tensor operator()(const Tensor& x) const {
    Tensor y = x;
    for (const auto& step : *steps_) y = step(y);
    return report(std::move(y));
  }
  std::size_t size() const { return steps_->size(); }
  void operator[](Integer auto) const = delete;  // steps go by name: net.parameter("0.weight")

 private:
  using Steps = std::vector<std::function<Tensor(const Tensor&)>>;
  std::shared_ptr<Steps> steps_ = std::make_shared<Steps>();  // shared by copies, like parameters
};

}  // namespace gradus::nn
