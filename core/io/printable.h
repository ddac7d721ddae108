#pragma once
// Texts that may contain anything, made safe to print.

#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::io {

/// `text`, usually a path, for a message: each byte of control characters, of those that change the writing
/// direction and of invalid UTF-8 becomes '?'.
std::string printable(std::string_view text);

/// The same for multi-line text: \n, \t and \r\n stay, and each character unsafe for a terminal, or byte that
/// is not UTF-8, becomes U+FFFD.
std::string printable_text(std::string_view text);

/// The same in quotes and truncated: a file may contain anything.
std::string quote(const std::string& text);

}  // namespace gradus::io
