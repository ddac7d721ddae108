#pragma once
// For calling a function of tensors many times with different input values.

#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::detail {

/// Restores this thread's default generator on request and at the end.
class SameNumbers {
 public:
  SameNumbers() : start_(default_generator().state()) {}
  ~SameNumbers() { again(); }
  SameNumbers(const SameNumbers&) = delete;
  SameNumbers& operator=(const SameNumbers&) = delete;
  void again() const { default_generator().set_state(start_); }

 private:
  Generator::State start_;
};

/// Throws "gradcheck: input 0 [2, 3] is ..." unless x, to be changed in place, is an f64 leaf that requires
/// grad and has no elements that share memory. `what`: its name.
void check_movable(const char* caller, const char* what, std::size_t number, const Tensor& x);

}  // namespace gradus::detail
