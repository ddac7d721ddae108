#pragma once
// For what calls a function of tensors many times, with other numbers in its inputs.

#include <vector>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::detail {

/// Puts this thread's default generator back to where it stood, whenever asked and at the end.
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

/// "gradcheck: input 0 [2, 3] is ..." unless x, which is to be moved in place, is an f64 leaf that requires
/// grad and none of whose elements share memory. `what` it is called.
void check_movable(const char* caller, const char* what, std::size_t number, const Tensor& x);

}  // namespace gradus::detail
