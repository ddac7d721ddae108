#pragma once
// Splits text into the words of a byte-level BPE.

#include <string>
#include <string_view>
#include <vector>

#include "gradus/text/detail/pattern.h"
#include "gradus/text/detail/unicode.h"

namespace gradus::text::detail {

/// For one thread; keeps references to the patterns.
class Cutter {
 public:
  Cutter(const std::vector<Pattern>& patterns, bool compose) : compose_(compose) {
    for (const Pattern& pattern : patterns) matchers_.emplace_back(pattern);
  }

  /// Calls each(word) for all words of a text, in order. Patterns see only valid UTF-8: each run of other
  /// bytes is a separate word.
  template <class F>
  void split(std::string_view text, const F& each) {
    while (!text.empty()) {
      const std::size_t valid = valid_prefix(text);
      if (valid > 0 && compose_) cut(0, compose(text.substr(0, valid)), each);
      if (valid > 0 && !compose_) cut(0, text.substr(0, valid), each);
      text.remove_prefix(valid);
      const std::size_t other = invalid_prefix(text);
      if (other > 0) each(text.substr(0, other));
      text.remove_prefix(other);
    }
  }

 private:
  /// Splits the piece by pattern number `first` and those after it.
  template <class F>
  void cut(std::size_t first, std::string_view piece, const F& each) {
    if (first == matchers_.size()) return each(piece);
    matchers_[first].split(piece, [&](std::string_view part) { cut(first + 1, part, each); });
  }
  static std::size_t invalid_prefix(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const Start start = first_character(text.substr(at));
      if (start.valid) break;
      at += start.bytes;
    }
    return at;
  }

  bool compose_;
  std::vector<Pattern::Matcher> matchers_;
};

}  // namespace gradus::text::detail
