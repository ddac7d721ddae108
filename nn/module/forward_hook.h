#pragma once
// ForwardHook: the result of Module::on_forward.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "gradus/core/tensor.h"

namespace gradus::nn {

class Module;

namespace detail {
/// The number of hooks in the program: without any, report() costs one comparison.
inline std::atomic<std::int64_t> forward_hooks{0};
}  // namespace detail

/// A hook of Module::on_forward, active until the last copy of this object is destroyed.
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
