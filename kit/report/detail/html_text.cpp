#include "gradus/kit/report/detail/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "gradus/kit/chart/detail/svg.h"

namespace gradus::kit {
namespace {

// The text between `open` and `close` at the start of `text`; empty if one is missing.
std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  if (!text.starts_with(open)) return {};
  text.remove_prefix(open.size());
  const std::size_t stop = text.find(close);
  return stop == std::string_view::npos ? std::string_view{} : text.substr(0, stop);
}

// A file in the page's folder, such as "claims.html#c13". Other text in brackets may be code: f[i](x).
bool is_file_beside(std::string_view address) {
  address = address.substr(0, address.find('#'));
  const auto ends = [&](std::string_view ending) { return address.ends_with(ending); };
  return address.find(':') == std::string_view::npos && !address.starts_with('/') &&
         (ends(".html") || ends(".csv") || ends(".json") || ends(".jsonl") || ends(".svg"));
}

bool safe_address(std::string_view address) {
  return address.starts_with("https://") || address.starts_with("http://") || address.starts_with('#') ||
         is_file_beside(address);
}

// The colours of the style sheet.
constexpr std::string_view kColours[] = {"blue", "green", "orange", "purple", "yellow", "gray"};

// The markup at the start of `text` as HTML, and its size in bytes; 0 bytes if there is none.
struct Piece {
  std::string html;
  std::size_t bytes = 0;
};

Piece markup_at(std::string_view text) {
  if (const auto code = between(text, "`", "`"); !code.empty()) {
    return {fmt::format("<code>{}</code>", escaped(code)), code.size() + 2};
  }
  if (const auto strong = between(text, "**", "**"); !strong.empty()) {
    return {fmt::format("<strong>{}</strong>", html_text(strong)), strong.size() + 4};
  }
  if (const auto words = between(text, "[", "]("); !words.empty()) {
    const auto address = between(text.substr(words.size() + 1), "](", ")");
    if (safe_address(address)) {
      return {fmt::format("<a href=\"{}\">{}</a>", escaped(address), escaped(words)),
              words.size() + address.size() + 4};
    }
  }
  for (const std::string_view colour : kColours) {
    const std::string open = fmt::format("{{{}:", colour);
    if (const auto words = between(text, open, "}"); !words.empty()) {
      return {fmt::format("<span class=\"{}\">{}</span>", colour, html_text(words)),
              open.size() + words.size() + 1};
    }
  }
  return {};
}

// Cells such as "1.5", "−0.2 (−0.3 to 0.1)", "10⁻³", "–" or "".
bool looks_like_number(std::string_view cell) {
  for (const std::string_view sign : {"\u2212", "-", "+", "\u221E"}) {
    if (cell.starts_with(sign)) return true;
  }
  return cell.empty() || cell == "\u2013" || std::isdigit(static_cast<unsigned char>(cell.front())) != 0;
}

bool is_numeric(const Table& table, std::size_t column) {
  return !table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return column >= row.size() || looks_like_number(row[column]);
  });
}

std::string row_html(const std::vector<std::string>& cells, std::string_view tag,
                     const std::vector<bool>& numeric) {
  const std::string_view scope = tag == "th" ? " scope=\"col\"" : "";
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool right = i < numeric.size() && numeric[i];
    html += fmt::format("<{}{}{}>{}</{}>", tag, scope, right ? " class=\"n\"" : "", html_text(cells[i]), tag);
  }
  return html + "</tr>";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("`*[{"), text.size());
    html += escaped(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    Piece piece = markup_at(text);
    if (piece.bytes == 0) piece = {escaped(text.substr(0, 1)), 1};
    html += piece.html;
    text.remove_prefix(piece.bytes);
  }
  return html;
}

std::string html_table(const Table& table, bool with_caption) {
  std::vector<bool> numeric;
  for (std::size_t i = 0; i < table.header.size(); ++i) numeric.push_back(is_numeric(table, i));
  std::string html = "<div class=\"scroll\"><table>";
  if (with_caption && !table.caption.empty())
    html += fmt::format("<caption>{}</caption>", html_text(table.caption));
  if (!table.header.empty()) html += "<thead>" + row_html(table.header, "th", numeric) + "</thead>";
  html += "<tbody>";
  for (const auto& row : table.rows) html += row_html(row, "td", numeric);
  return html + "</tbody></table></div>";
}

}  // namespace gradus::kit
