#pragma once
// What functions on functions share: a call on the tape, and passes back through it.

#include <vector>

#include "gradus/core/tensor.h"
#include "gradus/ops/detail/repeatable.h"
#include "gradus/ops/gradcheck.h"

namespace gradus::detail {

/// One call of a function, recorded. Errors name the caller and call an input `what`.
struct RecordedCall {
  RecordedCall(const char* by, const char* what, const TensorFunction& f, const std::vector<Tensor>& given,
               bool taped);
  /// Throws unless there is one output of one element.
  const Tensor& loss() const;
  /// Throws unless there is one v for each of `like`, of its dtype and shape. `whose`: what they are called.
  std::vector<Tensor> vectors(const std::vector<Tensor>& v, const std::vector<Tensor>& like,
                              const char* whose) const;

  const char* caller;
  bool takes_inputs;           // the function does
  bool create_graph;           // derivatives are to be on the tape
  std::vector<Tensor> inputs;  // what to differentiate with respect to: the function's own, or the given ones
  std::vector<Tensor> outputs;

 private:
  SameNumbers numbers_;
};

struct PullBackOptions {
  bool retain_graph = false;  // keep the tape for another pass
  bool create_graph = false;  // the results are on the tape
};
/// The gradients of sum_i <ys[i], vs[i]> with respect to xs; zeros where it depends on no x.
std::vector<Tensor> pull_back(const std::vector<Tensor>& ys, const std::vector<Tensor>& vs,
                              const std::vector<Tensor>& xs, const PullBackOptions& options);

}  // namespace gradus::detail
