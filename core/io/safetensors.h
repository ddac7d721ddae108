#pragma once
// Weights in files other frameworks read: the safetensors format
// (https://huggingface.co/docs/safetensors). A JSON header with names, types, shapes and offsets, then the
// values, little endian and row-major.

#include <map>
#include <string>

#include "gradus/core/io/state_dict.h"

namespace gradus {

/// Metadata stored with the tensors: `{{"format", "pt"}}`
using Metadata = std::map<std::string, std::string>;

/// Writes the tensors, of any layout, in order. The same tensors give the same bytes. The write is atomic: an
/// old file of that name stays until the new one is on disk, which keeps its permissions; links are followed.
/// Throws if it cannot be written, if the path is a folder, a device or a pipe, if a tensor is undefined or a
/// name is not valid UTF-8.
/// `save_safetensors("model.safetensors", model.state_dict());`
void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata = {});

/// What F16 and BF16 in files become: f32, exactly, or f16 and bf16, which take half the memory.
enum class Halves { widen, keep };

/// Reads the tensors in the order of the header, and the notes into `metadata` if given: F32, F64, I64 and
/// BOOL as they are; F16 and BF16 become f32 unless they are kept, narrower integers i64, both exactly.
/// Throws, naming file and tensor, on any file that is not exactly a safetensors file; never takes more
/// memory than the widened tensors and a small multiple of the file's size (notes beyond 10,000 must have 32
/// bytes of header each). `model.load_state_dict(load_safetensors("model.safetensors"));`
///
/// A path that ends in ".index.json" is an index of several files, such as model.safetensors.index.json: the
/// files it names, in the same folder, are read as one.
StateDict load_safetensors(const std::string& path, Metadata* metadata = nullptr,
                           Halves halves = Halves::widen);

}  // namespace gradus
