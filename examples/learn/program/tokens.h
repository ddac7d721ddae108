#pragma once
// C++ as the search for forbidden names reads it: names, numbers and signs, without comments and strings.

#include <string>
#include <vector>

namespace gradus::learn {

/// C++ without its comments, and with nothing left in strings; lines stay where they are. A line that ends in
/// a backslash is one with the next. `strings`: leave in them what they say.
std::string without_comments(const std::string& code, bool strings = false);

struct Token {
  std::string text;  // a name or a number, "::", "->", or one sign
  int line = 1;
  bool is_name() const;
};
/// The tokens of code without comments; lines that begin with # have none.
std::vector<Token> tokens_of(const std::string& code);

}  // namespace gradus::learn
