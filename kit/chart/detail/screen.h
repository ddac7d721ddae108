#pragma once
// Screen: lines of text that fit the width of a terminal.

#include <string>
#include <string_view>
#include <vector>

#include "gradus/kit/chart/terminal.h"

namespace gradus::kit {

/// The number of terminal columns of a text: two for a Chinese, Japanese or Korean character or an emoji,
/// none for a combining accent.
int columns_of(std::u32string_view text);

/// Adds spaces after a text, or before it, up to a number of columns.
std::u32string padded(std::u32string text, int columns);
std::u32string right_aligned(std::u32string text, int columns);

class Screen {
 public:
  /// Throws for options out of range.
  explicit Screen(const TerminalOptions& options);

  int width() const { return width_; }
  int height() const { return height_; }
  bool ascii() const { return ascii_; }
  /// `unicode`, or `plain` in ASCII.
  char32_t either(char32_t unicode, char plain) const {
    return ascii_ ? static_cast<char32_t>(plain) : unicode;
  }

  /// Makes a text safe to print: characters that would move the cursor or change colours become '?', and so
  /// do, in ASCII, characters without a replacement.
  std::u32string text(std::string_view utf8) const;

  /// Adds a line without the spaces at its end.
  void line(std::u32string text);
  /// Adds a text in as many lines as it needs, broken at spaces if possible.
  void paragraph(std::u32string_view text, int indent = 0);
  /// Adds entries side by side if they fit.
  void legend(const std::vector<std::u32string>& entries);

  const std::string& result() const { return result_; }

 private:
  int width_;
  int height_;
  bool ascii_;
  std::string result_;
};

}  // namespace gradus::kit
