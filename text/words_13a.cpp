// The tokenizer 13a of mteval, in sacreBLEU's form: four substitutions in sequence.

#include "gradus/text/bleu.h"
#include "gradus/text/detail/replace.h"
#include "gradus/text/detail/unicode.h"

namespace gradus::text {
namespace {

using detail::replace_all;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }
/// Punctuation that is always separated, unlike . , - and '.
bool is_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// Replaces pairs of characters that fit, from left to right without overlap.
template <class Fits, class Write>
std::string replace_pairs(const std::string& text, const Fits& fits, const Write& write) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !fits(text[i], text[i + 1])) {
      out += text[i];
      continue;
    }
    write(out, text[i], text[i + 1]);
    ++i;
  }
  return out;
}

/// The separators of Python's split(): white space and the four separators of ASCII.
bool is_blank(char32_t c) { return detail::is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

/// Removes white space at the end, like sacreBLEU: "word-\n" becomes "word-".
std::string_view stripped(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const detail::Start start = detail::first_character(text.substr(at));
    at += start.bytes;
    if (!start.valid || !is_blank(start.character)) end = at;
  }
  return text.substr(0, end);
}

/// The words of a text that ends with a space.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < text.size();) {
    const detail::Start start = detail::first_character(text.substr(at));
    if (!start.valid || !is_blank(start.character))
      words.back() += text.substr(at, start.bytes);
    else if (!words.back().empty())
      words.emplace_back();
    at += start.bytes;
  }
  words.pop_back();
  return words;
}

}  // namespace

std::vector<std::string> words_13a(std::string_view line) {
  std::string text(stripped(line));
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  std::string spaced = " ";
  for (const char c : text) is_symbol(c) ? spaced.append({' ', c, ' '}) : spaced.append({c});
  spaced += ' ';
  spaced = replace_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_point(b); },
      [](std::string& out, char a, char b) {
        out.append({a, ' ', b, ' '});
      });
  spaced = replace_pairs(
      spaced, [](char a, char b) { return is_point(a) && !is_digit(b); },
      [](std::string& out, char a, char b) {
        out.append({' ', a, ' ', b});
      });
  spaced = replace_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; },
      [](std::string& out, char a, char b) {
        out.append({a, ' ', b, ' '});
      });
  return split(spaced);
}

}  // namespace gradus::text
