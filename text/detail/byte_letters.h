#pragma once
// Byte-level vocabularies are text files that write each of the 256 bytes as a distinct printable letter.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace gradus::text::detail {

/// The letter of a byte, in UTF-8: "a" for 'a', "Ġ" (U+0120) for a space.
std::string_view byte_letter(unsigned char byte);
/// The bytes in the order of their letters, which is that of their ids in GPT-2.
const std::array<unsigned char, 256>& bytes_in_order();
/// The bytes of letters; nullopt if a character is not such a letter.
std::optional<std::string> bytes_of_letters(std::string_view letters);

}  // namespace gradus::text::detail
