#pragma once
// A safetensors file, written into a file that is already open (core/io/safetensors.cpp).

#include <string>

#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/safetensors.h"

namespace gradus::io {

/// Writes header and tensors. Messages start with `label`.
void write_safetensors(AtomicFile& file, const std::string& label, const StateDict& tensors,
                       const Metadata& metadata);

}  // namespace gradus::io
