#pragma once
// A checkpoint that several processes write together (distributed/checkpoint.h), as files of a folder:
//
//   checkpoint-000012.part-1-of-4.safetensors, ...     the tensors, or pieces of them
//   checkpoint-000012.safetensors                      written last: notes, and the checksums of the parts
//
// Without the last file there is no such checkpoint. load_checkpoint() reads all of them as one.

#include <cstdint>
#include <string>
#include <vector>

#include "gradus/core/io/checkpoint_files.h"

namespace gradus::io {

/// The name of a piece of a tensor of this shape, its elements from `begin` on in row-major order, which is
/// [elements]: "weight@4096:[100, 200]".
std::string piece_name(const std::string& name, std::int64_t begin, const Shape& shape);
bool is_piece(const std::string& name);  // whether piece_name() made it
/// Puts the pieces of each tensor together; tensors with other names stay. Throws, naming `op` and the
/// tensor, when elements of one are missing or there twice.
StateDict join_pieces(const char* op, const StateDict& tensors);

/// The number of the folder's next checkpoint; makes the folder when it is missing.
std::int64_t next_checkpoint(const std::string& folder);
/// The path of its last file.
std::string checkpoint_path(const std::string& folder, std::int64_t number);
/// Writes part 1, 2, ... of `parts` and returns its checksum.
std::uint32_t save_checkpoint_part(const std::string& folder, std::int64_t number, int part, int parts,
                                   const StateDict& tensors);
/// Once all parts are on disk: writes the last file, removes all but the two newest checkpoints. Throws
/// when this process does not find the parts.
void complete_checkpoint(const std::string& folder, std::int64_t number,
                         const std::vector<std::uint32_t>& checksums, const Metadata& metadata);

}  // namespace gradus::io
