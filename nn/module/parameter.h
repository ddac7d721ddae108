#pragma once
// Parameter: a tensor that belongs to a module.

#include <utility>

#include "gradus/core/tensor.h"

namespace gradus::nn {

/// The result of Module's parameter() and buffer(), which only initializes a Parameter.
class Registered {
 public:
  operator Tensor() const = delete;  // declare it as nn::Parameter (or nn::Buffer), not as Tensor

 private:
  friend class Module;
  friend class Parameter;
  explicit Registered(Tensor values) : values_(std::move(values)) {}
  Tensor values_;
};

/// A module's tensor: `nn::Parameter weight = parameter("weight", randn({3, 2}));`, or undefined. It always
/// is the tensor in parameters() and state_dict(): its values can be written, but another tensor cannot
/// replace it. An optional one may be registered in the constructor's body:
/// `if (bias) b = parameter("b", ...);`
class Parameter : public Tensor {
 public:
  Parameter() = default;
  Parameter(const Registered& registered) : Tensor(registered.values_) {}
  /// Throws unless it is still undefined.
  Parameter& operator=(const Registered& registered);
  // A move is a copy, which shares the tensor: a module that was moved from keeps its parameters.
  Parameter(const Parameter&) = default;
  Parameter& operator=(const Tensor&) = delete;     // to change its values: NoGrad guard; weight.copy_(x);
  Parameter& operator=(const Parameter&) = delete;  // to share it: nn::Linear(other.weight); values: copy_

 private:
  friend class Module;
  explicit Parameter(const Tensor& values) : Tensor(values) {}
};

/// The same for a tensor registered by buffer(): saved with the model, not trained.
using Buffer = Parameter;

}  // namespace gradus::nn
