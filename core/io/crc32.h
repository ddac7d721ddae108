#pragma once
// The project's one checksum: of checkpoints, of the texts that a training resumes, of recomputed outputs.

#include <cstddef>
#include <cstdint>

#include "gradus/core/cxx20.h"

namespace gradus::io {

/// The CRC-32 of ISO 3309, as in zip, gzip and PNG: it finds accidental changes, not deliberate ones. Data in
/// parts: `crc = crc32(part, bytes, crc);` `crc32("123456789", 9) == 0xcbf43926`
std::uint32_t crc32(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace gradus::io
