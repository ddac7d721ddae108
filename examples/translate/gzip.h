#pragma once
// Reading what gzip wrote.

#include <string>
#include <string_view>

namespace gradus::translate {

/// Whether these bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes);

/// The text in a gzip file, also one of several parts. Throws, naming `who`, when it is damaged or cut short,
/// or holds more than 4 GB.
std::string unzipped(std::string_view bytes, const std::string& who);

}  // namespace gradus::translate
