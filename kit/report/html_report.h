#pragma once
// One page that opens from disk: text, charts and the numbers behind them, without scripts or anything
// fetched.
//
//   kit::HtmlReport report("Cars", "What a linear model makes of weight and power.");
//   report.figure(chart, "The loss after each step.");
//   report.save("report.html");
//
// Texts may use a little markup: `code`, **strong**, [words](https://...) or [words](data.csv), a file in the
// page's folder.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/report/table.h"

namespace gradus::kit {

/// A page with title, paragraphs, charts and tables, in the order in which they are added.
class HtmlReport {
 public:
  /// `lead` is the sentence or two under the title.
  HtmlReport(std::string title, std::string lead);

  /// The answer, in a box at the place of the call: one sentence and the findings it rests on.
  void verdict(std::string_view sentence, const std::vector<std::string>& findings = {});
  /// A section; sections are listed under the title.
  void heading(std::string_view text);
  /// With an anchor, "claim-13", other pages may link to it: [claim 13](ledger.html#claim-13).
  void subheading(std::string_view text, std::string_view anchor = {});
  void paragraph(std::string_view text);
  void list(const std::vector<std::string>& items);

  /// A chart with the sentence that says what to see in it, and its numbers in a table that opens on demand.
  /// Charts that follow each other stand side by side where the screen is wide.
  void figure(const LineChart& chart, std::string_view caption);
  void figure(const Panels& panels, std::string_view caption);
  void figure(const BarChart& chart, std::string_view caption);
  void figure(const HeatMap& map, std::string_view caption);

  /// A table in view. Columns of numbers are aligned right.
  void table(const Table& table);
  /// A table folded away under its caption.
  void folded_table(const Table& table);
  /// Names and values: settings, the machine.
  void key_values(std::string_view caption, const std::vector<std::pair<std::string, std::string>>& facts);

  /// The page.
  std::string html() const;
  /// Writes it: `report.save("report.html");` Throws what replace_file() throws.
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
