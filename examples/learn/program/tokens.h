#pragma once
// Splits C++ into tokens for the search for forbidden names: names, numbers and symbols, without comments and
// strings.

#include <string>
#include <vector>

namespace gradus::learn {

/// C++ without its comments and with empty strings; lines keep their numbers. A line that ends in a backslash
/// is joined with the next. `strings`: keep their contents.
std::string without_comments(const std::string& code, bool strings = false);

struct Token {
  std::string text;  // a name or a number, "::", "->", or one symbol
  int line = 1;
  bool is_name() const;
};
/// The tokens of code without comments; lines that begin with # have none.
std::vector<Token> tokens_of(const std::string& code);

}  // namespace gradus::learn
