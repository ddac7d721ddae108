#pragma once
// Reads gzip files.
//
//   const std::string bytes = kit::read_file("train.de.gz");
//   const std::string text = kit::is_gzip(bytes) ? kit::unzipped(bytes, "train.de.gz") : bytes;

#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// Whether these bytes begin like a gzip file.
bool is_gzip(std::string_view bytes);

/// The contents of a gzip file, which may have several parts. Throws, naming `who`, when it is damaged or cut
/// short, or unpacks to more than 4 GB.
std::string unzipped(std::string_view bytes, const std::string& who);

}  // namespace gradus::kit
