#pragma once
// Converts UTF-8 to code points and back, for any bytes.

#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// The characters of a text: its Unicode code points. Bytes that are not valid UTF-8 each become one
/// character in U+DC80..U+DCFF (byte 0x80 is U+DC80), which valid UTF-8 never contains: nothing is lost, and
/// `to_utf8(code_points(bytes)) == bytes` for any bytes. Python calls this "surrogateescape".
std::u32string code_points(std::string_view bytes);

/// The bytes of the characters; U+DC80..U+DCFF become the bytes they encode. Throws for values that are not
/// code points (other surrogates, above U+10FFFF).
std::string to_utf8(std::u32string_view characters);

/// Whether the bytes are valid UTF-8.
bool is_utf8(std::string_view bytes);

}  // namespace gradus::kit
