#pragma once
#include <string>
#include <string_view>

namespace gradus::learn {

/// Breaks a paragraph between words into lines of at most 100 characters; lines after the first begin with
/// `indent` blanks. Longer words, and Chinese, which has no blanks, are left to the terminal.
std::string folded(std::string_view paragraph, std::size_t indent = 0);

}  // namespace gradus::learn
