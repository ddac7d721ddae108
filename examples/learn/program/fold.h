#pragma once
#include <string>
#include <string_view>

namespace gradus::learn {

/// A paragraph in lines of at most 100 characters, broken between words; those after the first begin with
/// `indent` blanks. A word that is longer, and Chinese, which has no blanks, are left to the terminal.
std::string folded(std::string_view paragraph, std::size_t indent = 0);

}  // namespace gradus::learn
