#pragma once
// One array in NumPy's file format (numpy.lib.format, versions 1.0 and 2.0).

#include <string>

#include "gradus/core/tensor.h"

namespace gradus {

/// Writes a tensor of any layout as little-endian f4, f8, f2, i8 or b1 in row-major order; NumPy has no bf16.
/// The write is atomic and replaces only regular files. `save_npy("losses.npy", losses);`
void save_npy(const std::string& path, const Tensor& tensor);

/// Reads such a file, in row-major or column-major order; also i4 and u1, which become i64. Throws, naming
/// the file, on any file that is not exactly that; never uses more than twice the tensor's memory.
/// `Tensor x = load_npy("x.npy");`
Tensor load_npy(const std::string& path);

}  // namespace gradus
