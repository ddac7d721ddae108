#pragma once
// Tensors in a debugger: `call gradus::dump(x)` in gdb, `expr gradus::dump(x)` in lldb.

#include "gradus/core/tensor.h"

namespace gradus {

/// Prints a tensor to stderr: dtype, shape, layout, its place on the tape, the min, max and mean of its
/// finite values with the counts of NaN and infinities, the values as by to_string(), and a leaf's gradient.
/// `gradus::dump(x)`
///
/// Never throws, takes no library lock and starts no threads, so a debugger can call it wherever the program
/// stopped. Linked into every program that computes with tensors.
void dump(const Tensor& x) noexcept;
void dump(const Array& x) noexcept;
/// Prints a shape to stderr: `gradus::dump(x.shape())`
void dump(const Shape& shape) noexcept;

}  // namespace gradus
