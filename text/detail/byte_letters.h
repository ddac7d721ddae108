#pragma once
// Byte-level vocabularies are text files: each of the 256 bytes is written as a printable letter of its own.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace gradus::text::detail {

/// A byte's letter in UTF-8: 'a' is "a", a space "Ġ" (U+0120).
std::string_view byte_letter(unsigned char byte);
/// The bytes in the order of their letters, which is that of their ids in GPT-2.
const std::array<unsigned char, 256>& bytes_in_order();
/// The bytes that letters stand for; empty where a character is no such letter.
std::optional<std::string> bytes_of_letters(std::string_view letters);
std::string letters_of_bytes(std::string_view bytes);

}  // namespace gradus::text::detail
