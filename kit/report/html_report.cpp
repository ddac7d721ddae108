#include "gradus/kit/report/html_report.h"

#include <fmt/format.h>

#include <string_view>

#include "gradus/kit/chart/detail/svg.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/report/detail/html_text.h"

namespace gradus::kit {
namespace {

std::string list_html(const std::vector<std::string>& items) {
  std::string html;
  for (const std::string& item : items) html += fmt::format("<li>{}</li>", html_text(item));
  return items.empty() ? "" : "<ul>" + html + "</ul>";
}

// A drawing inside a page needs no namespace.
std::string inlined(std::string drawing) {
  constexpr std::string_view name_space = " xmlns=\"http://www.w3.org/2000/svg\"";
  if (const std::size_t at = drawing.find(name_space); at != std::string::npos)
    drawing.erase(at, name_space.size());
  return drawing;
}

std::string folded(const std::string& summary, const std::vector<Table>& tables) {
  std::string html = fmt::format("<details><summary>{}</summary>", html_text(summary));
  for (const Table& table : tables) html += html_table(table);
  return html + "</details>\n";
}

}  // namespace

HtmlReport::HtmlReport(std::string title, std::string lead)
    : title_(std::move(title)), lead_(std::move(lead)) {}

void HtmlReport::add(const std::string& html) {
  if (in_figures_) body_ += "</div>\n";
  in_figures_ = false;
  body_ += html + "\n";
}

void HtmlReport::verdict(std::string_view sentence, const std::vector<std::string>& findings) {
  add(fmt::format("<div class=\"verdict\" role=\"note\" aria-label=\"Verdict\"><p>{}</p>{}</div>",
                  html_text(sentence), list_html(findings)));
}

void HtmlReport::heading(std::string_view text) {
  sections_.emplace_back(text);
  add(fmt::format("<h2 id=\"section-{}\">{}</h2>", sections_.size(), html_text(text)));
}

void HtmlReport::subheading(std::string_view text, std::string_view anchor) {
  const std::string id = anchor.empty() ? "" : fmt::format(" id=\"{}\"", escaped(anchor));
  add(fmt::format("<h3{}>{}</h3>", id, html_text(text)));
}
void HtmlReport::paragraph(std::string_view text) { add(fmt::format("<p>{}</p>", html_text(text))); }
void HtmlReport::list(const std::vector<std::string>& items) { add(list_html(items)); }

void HtmlReport::add_figure(const std::string& drawing, std::string_view caption,
                            const std::vector<Table>& tables) {
  if (!in_figures_) body_ += "<div class=\"figures\">\n";
  in_figures_ = true;
  const bool wide = drawing.find("gradus-chart wide") != std::string::npos;
  body_ += fmt::format("<figure{}><div class=\"drawing\">{}</div><figcaption>{}</figcaption>{}</figure>\n",
                       wide ? " class=\"wide\"" : "", inlined(drawing), html_text(caption),
                       folded("The numbers", tables));
}

void HtmlReport::figure(const LineChart& chart, std::string_view caption) {
  add_figure(draw(chart), caption, {numbers_of(chart)});
}
void HtmlReport::figure(const Panels& panels, std::string_view caption) {
  add_figure(draw(panels), caption, numbers_of(panels));
}
void HtmlReport::figure(const BarChart& chart, std::string_view caption) {
  add_figure(draw(chart), caption, {numbers_of(chart)});
}
void HtmlReport::figure(const HeatMap& map, std::string_view caption) {
  std::vector<Table> tables;
  if (map.numbers) tables.push_back(numbers_of(map));
  add_figure(draw(map), caption, tables);
}
void HtmlReport::figure(const Image& image, std::string_view caption) {
  add_figure(draw(image), caption, {});
}

void HtmlReport::table(const Table& table) { add(html_table(table)); }

void HtmlReport::folded_table(const Table& table) {
  Table inner = table;
  inner.caption.clear();
  add(folded(table.caption, {inner}));
}

void HtmlReport::key_values(std::string_view caption,
                            const std::vector<std::pair<std::string, std::string>>& facts) {
  Table table{std::string(caption), {}, {}};
  for (const auto& [name, value] : facts) table.rows.push_back({name, value});
  add("<div class=\"facts\">" + html_table(table) + "</div>");
}

std::string HtmlReport::html() const {
  // The policy allows only the style sheet: nothing can be fetched, no script can run.
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<div class=\"page\">\n<header>\n<h1>{}</h1>\n"
      "<p class=\"lead\">{}</p>\n",
      escaped(title_), report_style(), chart_style(), html_text(title_), html_text(lead_));
  if (sections_.size() >= 3) {
    page += "<nav aria-label=\"Sections\"><ol>";
    for (std::size_t i = 0; i < sections_.size(); ++i)
      page += fmt::format("<li><a href=\"#section-{}\">{}</a></li>", i + 1, html_text(sections_[i]));
    page += "</ol></nav>\n";
  }
  page += "</header>\n<main>\n" + body_ + (in_figures_ ? "</div>\n" : "") + "</main>\n";
  return page + "</div>\n</body>\n</html>\n";
}

void HtmlReport::save(const std::filesystem::path& path) const { replace_file(path, html()); }

}  // namespace gradus::kit
