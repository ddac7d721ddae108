#pragma once
// HtmlReport: a self-contained page with text, charts and their data, without scripts or external files.
//
//   kit::HtmlReport report("Cars", "A linear model of weight and power.");
//   report.figure(chart, "The loss after each step.");
//   report.save("report.html");
//
// Texts may use simple markup: `code`, **strong**, [words](https://...) or [words](data.csv), a file in the
// page's folder, and {blue:words}, {green:...}, {orange:...}, {purple:...}, {yellow:...} or {gray:...}. These
// colours are told apart in every kind of colour vision and in dark mode, but not in a black-and-white print:
// let the words say the same.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/image.h"
#include "gradus/kit/report/table.h"

namespace gradus::kit {

/// A page with a title, paragraphs, charts and tables, in the order in which they are added.
class HtmlReport {
 public:
  /// `lead` is one or two sentences below the title.
  HtmlReport(std::string title, std::string lead);

  /// The main result, in a box: one sentence and the findings that support it.
  void verdict(std::string_view sentence, const std::vector<std::string>& findings = {});
  /// A section; three or more sections are listed below the title.
  void heading(std::string_view text);
  /// With an anchor, "claim-13", other pages can link to it: [claim 13](ledger.html#claim-13).
  void subheading(std::string_view text, std::string_view anchor = {});
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);

  /// A chart with a sentence that says what it shows, and its values in a table that opens on demand.
  /// Consecutive charts are side by side on a wide screen. Images, and heat maps without numbers, have no
  /// table.
  void figure(const LineChart& chart, std::string_view caption);
  void figure(const Panels& panels, std::string_view caption);
  void figure(const BarChart& chart, std::string_view caption);
  void figure(const HeatMap& map, std::string_view caption);
  void figure(const Image& image, std::string_view caption);

  /// A visible table. Columns of numbers are right-aligned.
  void table(const Table& table);
  /// A table that is hidden until its caption is opened.
  void folded_table(const Table& table);
  /// Names and values: settings, the machine.
  void key_values(std::string_view caption, const std::vector<std::pair<std::string, std::string>>& facts);

  /// The page as HTML.
  std::string html() const;
  /// Writes the page: `report.save("report.html");` Throws like replace_file().
  void save(const std::filesystem::path& path) const;

 private:
  void add_figure(const std::string& drawing, std::string_view caption, const std::vector<Table>& tables);
  void add(const std::string& html);

  std::string title_;
  std::string lead_;
  std::vector<std::string> sections_;
  std::string body_;
  bool in_figures_ = false;
};

}  // namespace gradus::kit
