#pragma once

#include <cstddef>
#include <cstdint>

namespace gradus::io {

/// The CRC-32 of ISO 3309, as in zip, gzip and PNG; of "123456789" it is cbf43926.
std::uint32_t crc32(const void* data, std::size_t bytes);

}  // namespace gradus::io
