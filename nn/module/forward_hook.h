#pragma once
// ForwardHook: what Module::on_forward gives back.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "gradus/core/tensor.h"

namespace gradus::nn {

class Module;

namespace detail {
/// How many hooks there are in the program: while there are none, showing an output costs a comparison.
inline std::atomic<std::int64_t> forward_hooks{0};
}  // namespace detail

/// A hook of Module::on_forward, which listens until the last copy of this goes.
class [[nodiscard]] ForwardHook {
 public:
  /// Called with a module and its output.
  using Function = std::function<void(const Module& module, const Tensor& y)>;
  ForwardHook() = default;  // none

 private:
  friend class Module;
  explicit ForwardHook(std::shared_ptr<const void> state) : state_(std::move(state)) {}
  std::shared_ptr<const void> state_;
};

}  // namespace gradus::nn
