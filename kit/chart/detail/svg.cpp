#include "gradus/kit/chart/detail/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gradus/kit/data/utf8.h"

namespace gradus::kit {
namespace {

// The width in hundredths of the font size, for a common sans-serif such as Arial or DejaVu, rounded up.
int width_of(char32_t character) {
  constexpr std::u32string_view narrow = U"ijltfr.,:;'|!()[] ";
  constexpr std::u32string_view wide = U"mwMW%@\u2014";
  if (narrow.find(character) != std::u32string_view::npos) return 38;
  if (wide.find(character) != std::u32string_view::npos) return 92;
  if (character >= 'A' && character <= 'Z') return 70;
  if (character >= 0x2E80) return 105;  // Chinese, Japanese, Korean, emoji
  return 60;
}

bool allowed_in_xml(char32_t character) {
  if (character < 0x20) return character == '\t' || character == '\n' || character == '\r';
  return character < 0xD800 || (character >= 0xE000 && character != 0xFFFE && character != 0xFFFF);
}

// The number of bytes of a word that fit, at least one character.
std::size_t fitting_bytes(std::string_view word, double size, double width) {
  std::size_t bytes = 0;
  double used = 0;
  for (const char32_t character : code_points(word)) {
    used += width_of(character) * size / 100;
    if (bytes > 0 && used > width) break;
    bytes += to_utf8({&character, 1}).size();
  }
  return bytes;
}

// Fills each line with as many words as fit; breaks a word wider than `widest`.
std::vector<std::string> filled(std::string_view utf8, double size, double width, double widest) {
  std::vector<std::string> lines;
  std::string line;
  while (!utf8.empty()) {
    const std::size_t space = std::min(utf8.find(' '), utf8.size());
    const std::size_t stop = fitting_bytes(utf8.substr(0, space), size, widest);
    const std::string_view word = utf8.substr(0, stop);
    utf8.remove_prefix(std::min(stop < space ? stop : space + 1, utf8.size()));
    if (word.empty()) continue;
    const std::string longer = line.empty() ? std::string(word) : fmt::format("{} {}", line, word);
    if (!line.empty() && text_width(longer, size) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
    unsigned group = 0;  // 24 bits
    for (std::size_t i = 0; i < 3; ++i)
      group = group * 256 + (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) text += i <= bytes.size() ? letters[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::u32string safe;
  for (const char32_t character : code_points(text)) {
    switch (character) {
      case '&':
        safe += U"&amp;";
        break;
      case '<':
        safe += U"&lt;";
        break;
      case '>':
        safe += U"&gt;";
        break;
      case '"':
        safe += U"&quot;";
        break;
      case '\'':
        safe += U"&#39;";
        break;
      default:
        safe += allowed_in_xml(character) ? character : U'\uFFFD';
    }
  }
  return to_utf8(safe);
}

std::string coordinate(double value) {
  const long tenths = std::lround(std::clamp(value, -1e7, 1e7) * 10);
  const std::string sign = tenths < 0 ? "-" : "";
  const long whole = std::labs(tenths) / 10;
  const long rest = std::labs(tenths) % 10;
  if (rest == 0) return fmt::format("{}{}", sign, whole);
  return whole == 0 ? fmt::format("{}.{}", sign, rest) : fmt::format("{}{}.{}", sign, whole, rest);
}

double text_width(std::string_view utf8, double size) {
  int hundredths = 0;
  for (const char32_t character : code_points(utf8)) hundredths += width_of(character);
  return hundredths * size / 100;
}

std::vector<std::string> wrapped(std::string_view utf8, double size, double width) {
  std::vector<std::string> best = filled(utf8, size, width, width);
  // Balances the lines: as narrow as this number of lines allows.
  for (double narrower = 0.95 * width; best.size() > 1 && narrower > width / 2; narrower -= 0.05 * width) {
    std::vector<std::string> lines = filled(utf8, size, narrower, width);
    if (lines.size() > best.size()) break;
    best = std::move(lines);
  }
  return best;
}
void PathData::append(char command, double x, double y) {
  const long new_x = std::lround(std::clamp(x, -1e6, 1e6) * 10);
  const long new_y = std::lround(std::clamp(y, -1e6, 1e6) * 10);
  const std::string dx = coordinate(static_cast<double>(new_x - x_) / 10);
  const std::string dy = coordinate(static_cast<double>(new_y - y_) / 10);
  // A repeated command may be omitted, and a minus sign also separates numbers.
  if (command != last_command_ || command == 'm') {
    text_ += command;
  } else if (dx[0] != '-') {
    text_ += ' ';
  }
  text_ += dx;
  if (dy[0] != '-') text_ += ' ';
  text_ += dy;
  last_command_ = command;
  x_ = new_x, y_ = new_y;
}

PathData& PathData::move_to(double x, double y) {
  append('m', x, y);
  start_x_ = x_, start_y_ = y_;
  return *this;
}

PathData& PathData::line_to(double x, double y) {
  append('l', x, y);
  return *this;
}

PathData& PathData::close() {
  text_ += 'z';
  last_command_ = 'z';
  x_ = start_x_, y_ = start_y_;  // closing returns to the start
  return *this;
}

void Svg::line(std::string_view css, double x1, double y1, double x2, double y2, std::string_view more) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>", css, coordinate(x1),
                       coordinate(y1), coordinate(x2), coordinate(y2), more);
}

void Svg::rect(std::string_view css, double x, double y, double width, double height, std::string_view more) {
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>", css,
                       coordinate(x), coordinate(y), coordinate(width), coordinate(height), more);
}

void Svg::path(std::string_view css, const PathData& data, std::string_view more) {
  if (!data.empty()) body_ += fmt::format("<path class=\"{}\" d=\"{}\" {}/>", css, data.text(), more);
}

void Svg::text(std::string_view css, double x, double y, Anchor anchor, std::string_view content) {
  constexpr std::string_view anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>", css, coordinate(x), coordinate(y),
                       anchors[static_cast<int>(anchor)], escaped(content));
}

void Svg::image(double x, double y, double width, double height, std::string_view png, bool smooth) {
  // Inkscape knows optimizeSpeed, browsers pixelated.
  body_ += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\"{} "
      "href=\"data:image/png;base64,{}\"/>",
      coordinate(x), coordinate(y), coordinate(width), coordinate(height),
      smooth ? "" : " style=\"image-rendering:optimizeSpeed;image-rendering:pixelated\"", base64(png));
}

void Svg::begin_group(std::string_view css) { body_ += fmt::format("<g class=\"{}\">", css); }
void Svg::end_group() { body_ += "</g>"; }

std::string Svg::finish(double width, double height, std::string_view title,
                        std::string_view description) const {
  if (title.empty()) title = "Chart";
  // The label is repeated as an attribute: some screen readers use it, others <title>.
  return fmt::format(
      "<svg class=\"gradus-chart{}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\"><title>{}</title><desc>{}</desc>{}</svg>",
      width > 440 ? " wide" : "", coordinate(width), coordinate(height), escaped(title), escaped(title),
      escaped(description), body_);
}

}  // namespace gradus::kit
