#pragma once
// The header of a safetensors file.

#include <cstdint>
#include <deque>
#include <string>

#include "gradus/core/io/detail/array_bytes.h"
#include "gradus/core/io/safetensors.h"

namespace gradus::io {

/// One tensor in the header: where its bytes lie, counted from the end of the header.
struct TensorEntry {
  std::string name;
  FileType type;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

struct Header {
  Metadata metadata;
  std::deque<TensorEntry> tensors;  // in the order of the text; a list that never needs twice its memory
};

/// The format's name for a dtype.
const FileType& safetensors_type(DType dtype);

/// The same for F16 and BF16 that become f32.
FileType widened(const FileType& half);

/// The most notes a header of so many bytes may have. A short one takes ten times its text in memory: beyond
/// the first 10,000, each must have as much text as a tensor's.
inline std::size_t most_notes(std::size_t header_bytes) { return 10'000 + header_bytes / 32; }

/// The header as JSON, which fixes the order of the data: large elements first, so all are aligned. Fills in
/// begin and end of every entry. `label` starts messages.
std::string write_header(const std::string& label, Header& header);

/// Reads the text of a header. Throws unless the tensors fill exactly `data_bytes` bytes, without gaps or
/// overlaps, each of the size its shape says. Other writers need not align them.
Header read_header(const std::string& label, const std::string& text, std::uint64_t data_bytes);

}  // namespace gradus::io
