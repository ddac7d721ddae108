#pragma once
// Lines of text for a terminal, none wider than it.

#include <string>
#include <string_view>
#include <vector>

#include "gradus/kit/chart/terminal.h"

namespace gradus::kit {

/// Columns a terminal takes for a text: two for a Chinese, Japanese or Korean character or an emoji, none for
/// a combining accent.
int columns_of(std::u32string_view text);

/// Spaces after a text, or before it, up to a number of columns.
std::u32string padded(std::u32string text, int columns);
std::u32string right_aligned(std::u32string text, int columns);

class Screen {
 public:
  /// Throws at options out of range.
  explicit Screen(const TerminalOptions& options);

  int width() const { return width_; }
  int height() const { return height_; }
  bool ascii() const { return ascii_; }
  /// One of two ways to draw something.
  char32_t either(char32_t unicode, char plain) const {
    return ascii_ ? static_cast<char32_t>(plain) : unicode;
  }

  /// A text as it may be printed: what would move the cursor or change colours becomes '?', and so does, in
  /// ASCII, what has no likeness there.
  std::u32string text(std::string_view utf8) const;

  /// Adds a line without the spaces at its end.
  void line(std::u32string text);
  /// Adds as many lines as a text needs, broken at spaces where possible.
  void paragraph(std::u32string_view text, int indent = 0);
  /// Adds entries beside each other where they fit.
  void legend(const std::vector<std::u32string>& entries);

  const std::string& result() const { return result_; }

 private:
  int width_;
  int height_;
  bool ascii_;
  std::string result_;
};

}  // namespace gradus::kit
