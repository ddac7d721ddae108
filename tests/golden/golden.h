#pragma once
// The values PyTorch gave (make_golden.py wrote them), and how near ours must be.

#include <string>
#include <vector>

#include "gradus/core/io/state_dict.h"

namespace gradus::test {

/// One of the committed files, such as "ops.safetensors".
StateDict golden(const std::string& file);

/// Fails unless shapes and dtypes agree and every element is within 1e-5 (f32; 1e-12 in f64) of `expected`,
/// relative to the larger of 1 and the tensor's largest finite element, and within 100 times as much of that
/// element: small gradients are compared by their own size. `allowance` times as much is allowed for numbers
/// at the end of many sums, which those who add in another order round otherwise.
void check_close(const std::string& what, const Tensor& actual, const Tensor& expected, double allowance = 1);

/// The inputs <name>/in0, <name>/in1, ..., as leaves where they are floating point.
std::vector<Tensor> golden_inputs(const StateDict& file, const std::string& name);

/// Compares `out` with <name>/out and, after backward from <name>/dy, the gradients of `inputs` with
/// <name>/grad*.
void check_outputs(const StateDict& file, const std::string& name, const Tensor& out,
                   const std::vector<Tensor>& inputs);

}  // namespace gradus::test
