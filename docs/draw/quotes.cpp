#include "docs/draw/quotes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "lab/studies/studies.h"

namespace gradus::docs {

namespace {

using lab::Judged;
using lab::JudgedClaim;

/// In lower case, with line breaks replaced by single blanks.
std::string plain(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
  return line;
}

/// A page without its blocks of code and output, in units, and these blocks.
struct PageText {
  std::vector<std::string> units;
  std::string blocks;
};

/// "- " or "12. " at the beginning of an item, "|" at that of a row.
bool begins_unit(std::string_view line) {
  std::size_t digits = 0;
  while (digits < 2 && digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])))
    ++digits;
  return line.starts_with("- ") || line.starts_with("|") ||
         (digits > 0 && line.substr(digits).starts_with(". "));
}

PageText split_page(const std::string& page) {
  PageText text;
  std::string unit;
  const auto end_unit = [&] {
    if (!unit.empty()) text.units.push_back(std::exchange(unit, ""));
  };
  bool in_block = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const std::string words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (words.starts_with("```")) {
      in_block = !in_block;
      end_unit();
    } else if (in_block) {
      text.blocks += line + "\n";
    } else {
      if (words.empty() || begins_unit(words)) end_unit();
      if (!words.empty()) unit += words + " ";
    }
  }
  end_unit();
  return text;
}

/// The numbers of the rows that a text links to.
std::vector<int> linked(const std::string& text) {
  static const std::regex link("claims\\.md#claim-([0-9]+)");
  std::vector<int> numbers;
  for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it)
    numbers.push_back(std::stoi((*it)[1]));
  return numbers;
}

bool has(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// With "-" for the minus sign.
std::string with_hyphens(std::string text) {
  constexpr std::string_view minus = "\u2212";
  for (std::size_t at = 0; (at = text.find(minus, at)) != std::string::npos;)
    text.replace(at, minus.size(), "-");
  return text;
}

/// A unit without the addresses of links and HTML tags, and with hyphens.
std::string readable(const std::string& unit) {
  static const std::regex address("\\]\\([^)]*\\)"), tag("<[^>]*>");
  return with_hyphens(std::regex_replace(std::regex_replace(unit, address, "]"), tag, " "));
}

/// A figure with an interval: its three numbers.
using QuotedFigure = std::array<std::string, 3>;

/// "0.12 (0.05 to 0.19)", "0.12 nats (0.05 to 0.19; ...", in readable text.
const std::regex& figure_pattern() {
  static const std::string number =
      "-?[0-9]+(?:\\.[0-9]+)?(?:\u00B710(?:\u207B|\u2070|\u00B9|\u00B2|\u00B3|\u2074|\u2075|\u2076|\u2077|"
      "\u2078|"
      "\u2079)+)?";
  static const std::regex pattern(
      fmt::format("({0})(?: [A-Za-z]+){{0,3}} *\\( *({0}) to +({0})(?=[);])", number));
  return pattern;
}

std::vector<QuotedFigure> figures_in(const std::string& text) {
  std::vector<QuotedFigure> figures;
  for (std::sregex_iterator it(text.begin(), text.end(), figure_pattern()), end; it != end; ++it)
    figures.push_back({(*it)[1], (*it)[2], (*it)[3]});
  return figures;
}

QuotedFigure negated(const QuotedFigure& figure) {
  const auto minus = [](const std::string& number) {
    return number.starts_with('-') ? number.substr(1) : "-" + number;
  };
  return {minus(figure[0]), minus(figure[2]), minus(figure[1])};
}

/// The numbers of a readable text, without their signs. Numbers of sections, versions and papers are none.
struct QuotedNumber {
  double value = 0;
  std::string text;
  bool has_decimals = false;
};

std::vector<QuotedNumber> numbers_in(const std::string& text) {
  std::vector<QuotedNumber> numbers;
  const auto digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!digit(at)) continue;
    std::size_t end = at, points = 0, last_point = 0;
    while (digit(end) || (end < text.size() && text[end] == '.' && digit(end + 1))) {
      if (text[end] == '.') ++points, last_point = end;
      ++end;
    }
    const std::string number = text.substr(at, end - at), before = text.substr(0, at);
    const bool of_word =
        at > 0 && (std::isalpha(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_');
    const bool paper = points == 1 && last_point == at + 4 && end - last_point > 4;  // arXiv's 2110.04369
    const bool place =
        before.ends_with("section ") || before.ends_with("chapter ") || before.ends_with("figure ");
    if (!of_word && !paper && !place && points <= 1)
      numbers.push_back({std::stod(number), number, points == 1});
    at = end;
  }
  return numbers;
}

/// All that the ledger says about a claim.
std::string row_text(const JudgedClaim& one) {
  const lab::Claim& claim = *one.claim;
  std::string text = claim.text + "\n" + claim.source + "\n" + claim.note + "\n" + claim.paper + "\n" +
                     claim.prediction + "\n" + one.scope + "\n";
  if (!claim.study.empty()) text += lab::study_named(claim.study).setting + "\n";
  for (const Judged& measure : one.measures)
    text += measure.measure->where + "\n" + measure.measure->what + "\n" + format_figure(measure) + "\n" +
            format_band(*measure.measure) + "\n";
  return with_hyphens(text);
}

/// Where the numbers of a unit may come from.
struct Sources {
  std::set<QuotedFigure> figures;
  std::set<double> numbers;
  void add(const std::string& text) {
    for (const QuotedFigure& figure : figures_in(text)) figures.insert(figure);
    for (const QuotedNumber& number : numbers_in(text)) numbers.insert(number.value);
  }
};

std::vector<std::string> faults_of_unit(const std::string& unit, const std::vector<JudgedClaim>& ledger,
                                        const Sources& blocks, const Sources& results, PageKind kind) {
  std::vector<std::string> faults;
  const std::vector<int> rows = linked(unit);
  for (const int number : rows)
    if (std::none_of(ledger.begin(), ledger.end(),
                     [&](const auto& one) { return one.claim->number == number; }))
      faults.push_back(fmt::format("links to row {} of the ledger, which does not exist", number));
  const bool links = !rows.empty() || unit.find("results.md") != std::string::npos;
  if (!links && kind != PageKind::chapter) return faults;
  Sources sources = blocks;
  if (unit.find("results.md") != std::string::npos) {
    sources.figures.insert(results.figures.begin(), results.figures.end());
    sources.numbers.insert(results.numbers.begin(), results.numbers.end());
  }
  for (const JudgedClaim& one : ledger)
    if (has(rows, one.claim->number)) sources.add(row_text(one));
  const std::string text = readable(unit);
  for (const QuotedFigure& figure : figures_in(text))
    if (!sources.figures.contains(figure) && !sources.figures.contains(negated(figure)))
      faults.push_back(fmt::format("says \"{} ({} to {})\", which is in none of the rows it links to",
                                   figure[0], figure[1], figure[2]));
  if (!links) return faults;
  for (const QuotedNumber& number : numbers_in(std::regex_replace(text, figure_pattern(), " ")))
    if (number.has_decimals && !sources.numbers.contains(number.value))
      faults.push_back(fmt::format("says {}, which is in none of the rows it links to", number.text));
  return faults;
}

struct VerdictList {
  std::string_view heading;
  std::vector<std::string> verdicts;
};

/// The verdicts of claims in lists by verdict.
std::vector<std::string> faults_of_lists(const std::vector<std::string>& units,
                                         const std::vector<JudgedClaim>& ledger) {
  static const std::vector<VerdictList> lists = {
      {"**Claims that hold.**", {"holds"}},
      {"**Claims that are false.**", {"false"}},
      {"**Claims that hold only in some settings.**", {"holds only where"}},
      {"**Disputed and unclear claims.**", {"disputed", "unclear", "not decided"}},
      {"**Claims that are not measured yet.**", {"not measured"}}};
  std::vector<std::string> faults;
  const VerdictList* now = nullptr;
  for (const std::string& unit : units) {
    if (unit.starts_with("#")) now = nullptr;
    for (const VerdictList& list : lists)
      if (unit.starts_with(list.heading)) now = &list;
    if (now == nullptr) continue;
    for (const JudgedClaim& one : ledger)
      if (has(linked(unit), one.claim->number) &&
          std::find(now->verdicts.begin(), now->verdicts.end(), one.head()) == now->verdicts.end())
        faults.push_back(fmt::format("lists claim {}, whose verdict is \"{}\", under \"{}\"",
                                     one.claim->number, one.head(), now->heading));
  }
  return faults;
}

}  // namespace

std::vector<std::string> faults_of(const std::string& page, const std::vector<JudgedClaim>& ledger,
                                   const std::string& results, PageKind kind) {
  const PageText text = split_page(page);
  Sources blocks, of_results;
  blocks.add(with_hyphens(text.blocks));
  for (const std::string& unit : split_page(results).units) of_results.add(readable(unit));
  std::vector<std::string> faults;
  for (const std::string& unit : text.units)
    for (const std::string& fault : faults_of_unit(unit, ledger, blocks, of_results, kind))
      faults.push_back(fault);
  for (const std::string& fault : faults_of_lists(text.units, ledger)) faults.push_back(fault);
  const std::string words = plain(page);
  const std::vector<int> rows = linked(page);
  for (const JudgedClaim& one : ledger)
    for (const std::string& phrase : one.claim->phrases)
      if (words.find(plain(phrase)) != std::string::npos && !has(rows, one.claim->number))
        faults.push_back(fmt::format("states claim {} (\"{}\") without a link to claims.md#claim-{}",
                                     one.claim->number, phrase, one.claim->number));
  return faults;
}

}  // namespace gradus::docs
