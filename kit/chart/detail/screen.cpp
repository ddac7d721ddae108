#include "gradus/kit/chart/detail/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "gradus/core/check.h"
#include "gradus/kit/data/utf8.h"

namespace gradus::kit {
namespace {

constexpr int usual_width = 80;
constexpr int least_width = 20;
constexpr int most_width = 1000;

int width_of_stdout() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? std::clamp<int>(size.ws_col, least_width, usual_width) : usual_width;
}

// Like setlocale: the first of these that is set decides.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string letters;
    for (const char* c = value; *c != '\0'; ++c) {
      if (std::isalnum(static_cast<unsigned char>(*c)) != 0)
        letters += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
    return letters.find("utf8") != std::string::npos;
  }
  return false;
}

// Control characters, marks that change the direction of writing, and bytes that are not UTF-8.
bool unprintable(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || (c >= 0xD800 && c < 0xE000) ||
         c == 0xFEFF;
}

int columns_of_one(char32_t c) {
  if ((c >= 0x300 && c < 0x370) || (c >= 0xFE00 && c <= 0xFE0F)) return 0;
  const bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) ||
                    (c >= 0xAC00 && c < 0xD7A4) || (c >= 0xF900 && c < 0xFB00) ||
                    (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF01 && c < 0xFF61) ||
                    (c >= 0xFFE0 && c < 0xFFE7) || c >= 0x1F300;
  return wide ? 2 : 1;
}

// ASCII replacements for the characters that charts write; superscripts become digits after a '^'.
std::u32string plain(std::u32string_view text) {
  constexpr std::u32string_view superscripts =
      U"\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077\u2078\u2079\u207B";
  std::u32string result;
  bool raised = false;
  for (const char32_t c : text) {
    const std::size_t digit = superscripts.find(c);
    if (digit != std::u32string_view::npos) {
      if (!raised) result += U'^';
      result += U"0123456789-"[digit];
    } else if (c == U'\u2212' || c == U'\u2013' || c == U'\u2014') {
      result += U'-';
    } else if (c == U'\u00B7') {
      result += U'*';
    } else if (c == U'\u221E') {
      result += U"inf";
    } else if (c == U'\u202F' || c == U'\u00A0') {
      result += U' ';
    } else {
      result += c < 0x80 ? c : U'?';
    }
    raised = digit != std::u32string_view::npos;
  }
  return result;
}

// The number of characters that fit, at least one; breaks at a space if there is one.
std::size_t fitting(std::u32string_view text, int columns) {
  std::size_t size = 0;
  int used = 0;
  while (size < text.size() && used + columns_of_one(text[size]) <= columns)
    used += columns_of_one(text[size++]);
  if (size == text.size()) return size;
  const std::size_t space = text.substr(0, size + 1).rfind(U' ');
  return space != std::u32string_view::npos && space > 0 ? space : std::max<std::size_t>(size, 1);
}

}  // namespace

int columns_of(std::u32string_view text) {
  int columns = 0;
  for (const char32_t c : text) columns += columns_of_one(c);
  return columns;
}

std::u32string padded(std::u32string text, int columns) {
  text.append(static_cast<std::size_t>(std::max(columns - columns_of(text), 0)), U' ');
  return text;
}

std::u32string right_aligned(std::u32string text, int columns) {
  text.insert(0, static_cast<std::size_t>(std::max(columns - columns_of(text), 0)), U' ');
  return text;
}

Screen::Screen(const TerminalOptions& options)
    : width_(options.width == 0 ? width_of_stdout() : options.width),
      height_(options.height),
      ascii_(options.ascii.value_or(false) || (!options.ascii && !locale_is_utf8())) {
  check(width_ >= least_width && width_ <= most_width,
        "terminal: expects a width of {} to {} columns, or 0 for that of the terminal, got {}", least_width,
        most_width, options.width);
  check(height_ >= 2 && height_ <= 1000, "terminal: expects a height of 2 to 1000 rows, got {}", height_);
}

std::u32string Screen::text(std::string_view utf8) const {
  std::u32string characters = code_points(utf8);
  for (char32_t& c : characters) c = c == '\n' || c == '\t' ? U' ' : unprintable(c) ? U'?' : c;
  // Many terminal fonts lack this narrow space.
  std::replace(characters.begin(), characters.end(), U'\u202F', U' ');
  return ascii_ ? plain(characters) : characters;
}

void Screen::line(std::u32string text) {
  text.erase(text.find_last_not_of(U" \u2800") + 1);
  result_ += to_utf8(text);
  result_ += '\n';
}

void Screen::paragraph(std::u32string_view text, int indent) {
  while (!text.empty()) {
    const std::size_t size = fitting(text, width_ - indent);
    line(std::u32string(static_cast<std::size_t>(indent), U' ').append(text.substr(0, size)));
    text.remove_prefix(size);
    text.remove_prefix(std::min(text.find_first_not_of(U' '), text.size()));
  }
}

void Screen::legend(const std::vector<std::u32string>& entries) {
  std::u32string row;
  for (const std::u32string& entry : entries) {
    if (!row.empty() && columns_of(row) + 3 + columns_of(entry) > width_) {
      paragraph(row);
      row.clear();
    }
    row += row.empty() ? entry : U"   " + entry;
  }
  paragraph(row);
}

}  // namespace gradus::kit
