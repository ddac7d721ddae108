#pragma once
// Parameter: a tensor that belongs to a module.

#include <utility>

#include "gradus/core/tensor.h"

namespace gradus::nn {

/// What Module's parameter() and buffer() return: the value of a Parameter, and of nothing else.
class Registered {
 public:
  operator Tensor() const = delete;  // declare it as nn::Parameter (or nn::Buffer), not as Tensor

 private:
  friend class Module;
  friend class Parameter;
  explicit Registered(Tensor values) : values_(std::move(values)) {}
  Tensor values_;
};

/// A module's tensor: `nn::Parameter weight = parameter("weight", randn({3, 2}));`, or undefined. It stays
/// the one that parameters() and state_dict() hold: its numbers can be written, another tensor cannot take
/// its place. An optional one may be registered in the constructor's body:
/// `if (bias) b = parameter("b", ...);`
class Parameter : public Tensor {
 public:
  Parameter() = default;
  Parameter(const Registered& registered) : Tensor(registered.values_) {}
  /// Throws unless it is still undefined.
  Parameter& operator=(const Registered& registered);
  // Copies only, which share it: a module that was moved from keeps its parameters.
  Parameter(const Parameter&) = default;
  Parameter& operator=(const Tensor&) = delete;     // to change its numbers: NoGrad guard; weight.copy_(x);
  Parameter& operator=(const Parameter&) = delete;  // to share it: nn::Linear(other.weight); numbers: copy_

 private:
  friend class Module;
  explicit Parameter(const Tensor& values) : Tensor(values) {}
};

/// The same for what buffer() registers: saved with the model, not trained.
using Buffer = Parameter;

}  // namespace gradus::nn
