#include "learn/program/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <istream>
#include <ostream>
#include <regex>

#include "gradus/core/error.h"
#include "learn/program/fold.h"
#include "learn/program/typed.h"

namespace gradus::learn {

namespace fs = std::filesystem;

Questions questions_of(const fs::path& folder) {
  const fs::path file = folder / "questions.json";
  Questions all;
  if (!fs::exists(file)) return all;
  const nlohmann::json json = json_of(file);
  try {
    for (const nlohmann::json& p : json.at("predictions"))
      all.predictions.push_back({.ask = p.at("ask"),
                                 .unit = p.value("unit", ""),
                                 .printed = p.at("printed"),
                                 .note = p.at("note"),
                                 .answer = p.at("answer"),
                                 .low = p.at("band").at(0),
                                 .high = p.at("band").at(1)});
    for (const nlohmann::json& c : json.at("choices")) {
      Choice choice{.ask = c.at("ask"), .options = {}};
      for (const nlohmann::json& o : c.at("options"))
        choice.options.push_back(
            {.text = o.at("text"), .why = o.at("why"), .right = o.value("right", false)});
      all.choices.push_back(std::move(choice));
    }
    for (const nlohmann::json& a : json.value("answers", nlohmann::json::array()))
      all.answers.push_back({.exercise = a.at("exercise"),
                             .of = a.value("of", ""),
                             .unit = a.value("unit", ""),
                             .answer = a.at("answer"),
                             .within = a.at("within"),
                             .how = a.at("how")});
  } catch (const nlohmann::json::exception& error) {
    fail_input(file.string() + ": " + error.what());
  }
  return all;
}

bool HandAnswer::met_by(double said) const {
  return std::abs(said - answer) <= within + 1e-9 * std::abs(answer);
}

std::string HandAnswer::key() const {
  return fmt::format("exercise {}{}{}", exercise, of.empty() ? "" : ": ", of);
}

namespace {

/// Whether some number in the text equals `value` or rounds to it.
bool contains_number(const std::string& printed, double value) {
  const std::string text = std::regex_replace(printed, std::regex("([0-9]),(?=[0-9]{3})"), "$1");  // 49,984
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts =
        std::isdigit(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-' || text[i] == '.';
    const bool inside =
        i > 0 && (std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '.');
    if (!starts || inside) continue;
    char* end = nullptr;
    const double number = std::strtod(text.c_str() + i, &end);
    if (end != text.c_str() + i && std::abs(number - value) <= 1e-3 * std::abs(value)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> problems_of(const Questions& questions, const std::string& output) {
  std::vector<std::string> problems;
  const auto check = [&](bool fine, const std::string& ask, const std::string& words) {
    if (!fine) problems.push_back("'" + ask + "': " + words);
  };
  for (const Prediction& p : questions.predictions) {
    check(!p.ask.empty() && !p.note.empty(), p.ask, "expects a question and a note");
    check(p.met_by(p.answer), p.ask, "the answer is not inside the band");
    check(contains_number(p.printed, p.answer), p.ask, "the answer does not appear in 'printed'");
    check(output.find(p.printed) != std::string::npos, p.ask,
          "the program does not print '" + p.printed + "'");
  }
  for (const Choice& c : questions.choices) {
    const auto right =
        std::count_if(c.options.begin(), c.options.end(), [](const Option& o) { return o.right; });
    check(right == 1, c.ask, fmt::format("{} right choices, not one", right));
    check(c.options.size() >= 3, c.ask, "expects at least three options");
    for (const Option& o : c.options)
      check(!o.text.empty() && !o.why.empty(), c.ask, "option '" + o.text + "' is not explained");
  }
  for (const HandAnswer& a : questions.answers) {
    const auto same = [&](const HandAnswer& other) { return other.key() == a.key(); };
    check(std::count_if(questions.answers.begin(), questions.answers.end(), same) == 1, a.key(),
          "two answers have this name: tell them apart by 'of'");
    check(a.within >= 0 && (a.answer == 0 || a.within < std::abs(a.answer)), a.key(),
          "'within' is not between 0 and the answer");
    check(contains_number(a.how, a.answer), a.key(), "the answer does not appear in 'how'");
  }
  return problems;
}

namespace {

/// What to type instead of an invalid prediction.
std::string wanted(const Prediction& p, const Catalogue& words) {
  if (p.unit == "%" || p.unit == "percent")
    return words.phrase("Write the number without %: 5, or 5 80% if you are 80% sure.");
  return words.phrase(
      "Type a number, such as 2.5, or 2.5 80% if you are 80% sure. A thousand is written 1000, without "
      "a comma.");
}

void ask_prediction(const Prediction& p, Progress& progress, std::istream& in, std::ostream& out,
                    const Catalogue& words) {
  for (std::string line;;) {
    out << folded(words(p.ask) + (p.unit.empty() ? "" : " (" + words(p.unit) + ")")) << "\n  > "
        << std::flush;
    if (!read_line(in, line) || line.empty()) return out << '\n', void();
    std::string number = ascii_numbers(line);
    if (p.unit == "exponent of 2" && number.starts_with("2^")) number.erase(0, 2);  // 2^-5 means -5
    const auto said = read_prediction(number);
    if (!said) {
      out << folded("  " + wanted(p, words), 2) << '\n';
      continue;
    }
    progress.say(p.ask, {{"number", said->first}, {"sure", said->second}});
    const std::string without_gaps = std::regex_replace(p.printed, std::regex(" +"), " ");  // of a table
    const auto printed = fmt::arg("printed", without_gaps);
    const std::string judged = p.met_by(said->first) ? words.phrase("Yes: it prints {printed}.", printed)
                                                     : words.phrase("No: it prints {printed}.", printed);
    out << folded("  " + judged + " " + words(p.note), 2) << "\n\n";
    return;
  }
}

void ask_choice(const Choice& c, Progress& progress, std::istream& in, std::ostream& out,
                const Catalogue& words) {
  out << folded(words(c.ask)) << '\n';
  for (std::size_t i = 0; i < c.options.size(); ++i)
    out << folded(fmt::format("  {}. {}", i + 1, words(c.options[i].text)), 5) << '\n';
  for (std::string line;;) {
    out << "  > " << std::flush;
    if (!read_line(in, line) || line.empty()) return out << '\n', void();
    const auto number = read_choice(line, c.options.size());
    if (!number) {
      out << "  "
          << words.phrase("Type a number from 1 to {all} alone: only predictions have a confidence.",
                          fmt::arg("all", c.options.size()))
          << '\n';
      continue;
    }
    const Option& chosen = c.options[*number - 1];
    if (progress.said(c.ask).is_null())
      progress.say(c.ask, {{"option", chosen.text}, {"right", chosen.right}});
    const std::string judged = chosen.right ? words.phrase("Yes.") : words.phrase("No.");
    out << folded("  " + judged + " " + words(chosen.why), 2) << '\n';
    if (chosen.right) return out << '\n', void();
  }
}

}  // namespace

void ask(const Questions& questions, Progress& progress, std::istream& in, std::ostream& out,
         const Catalogue& words) {
  const auto open = [&](const auto& question) { return progress.said(question.ask).is_null(); };
  const bool predict = std::any_of(questions.predictions.begin(), questions.predictions.end(), open);
  if (predict) {
    out << words.phrase(
               "What will the chapter's program print? Predict before you run it. Enter skips a question; "
               "2.5 80% is a\nnumber of which you are 80% sure (50% if you say nothing).")
        << "\n\n";
  }
  for (const Prediction& p : questions.predictions)
    if (open(p) && in) ask_prediction(p, progress, in, out, words);
  for (const Choice& c : questions.choices)
    if (open(c) && in) ask_choice(c, progress, in, out, words);
}

namespace {
bool is_right(const HandAnswer& a, const Progress& progress) {
  const nlohmann::json said = progress.said(a.key());
  return said.is_object() && said.value("right", false);
}
}  // namespace

void ask_answers(const Questions& questions, Progress& progress, std::istream& in, std::ostream& out,
                 const Catalogue& words) {
  for (const HandAnswer& a : questions.answers) {
    if (is_right(a, progress)) continue;
    std::string title = words.phrase("Exercise {number} of the page", fmt::arg("number", a.exercise));
    if (!a.of.empty()) title += ": " + words(a.of);
    if (!a.unit.empty()) title += " (" + words(a.unit) + ")";
    for (std::string line; in;) {
      out << folded(title) << "\n  > " << std::flush;
      if (!read_line(in, line) || line.empty()) {
        out << '\n';
        break;
      }
      const auto said = read_number(line);
      if (!said) {
        const std::string wanted = words.phrase(
            "Type a number alone, such as 2.5 or 1e-3. A thousand is written 1000, without a comma.");
        out << folded("  " + wanted, 2) << '\n';
        continue;
      }
      const bool right = a.met_by(*said), again = !progress.said(a.key()).is_null();
      progress.say(a.key(), {{"number", *said}, {"right", right}});
      const std::string judged = right ? words.phrase("Right.") : words.phrase("Wrong.");
      const std::string reason =
          right || again ? words(a.how) : words.phrase("The solution is shown after the second try.");
      out << folded("  " + judged + " " + reason, 2) << "\n\n";
      break;
    }
  }
}

int right_answers(const Questions& questions, const Progress& progress) {
  const auto right = [&](const HandAnswer& a) { return is_right(a, progress); };
  return static_cast<int>(std::count_if(questions.answers.begin(), questions.answers.end(), right));
}

void add(Calibration& calibration, const Questions& questions, const Progress& progress) {
  for (const Prediction& p : questions.predictions) {
    const nlohmann::json said = progress.said(p.ask);
    if (!said.contains("sure")) continue;
    const double sure = said.at("sure");
    const bool met = p.met_by(said.at("number"));
    const double n = ++calibration.asked;
    calibration.met += met;
    calibration.sure += (sure - calibration.sure) / n;
    calibration.brier += ((sure - met) * (sure - met) - calibration.brier) / n;
  }
}

std::string Calibration::words(const Catalogue& catalogue) const {
  if (asked == 0) return "";
  const double share = static_cast<double>(met) / asked;
  const std::string verdict = sure > share + 0.15   ? catalogue.phrase("more sure than right")
                              : sure < share - 0.15 ? catalogue.phrase("more right than sure")
                                                    : catalogue.phrase("well calibrated");
  return catalogue.phrase(
      "Predictions: {met} of {asked} in the band, {sure:.0f}% sure on average: {verdict}. "
      "Calibration {score:.0f} of 100.",
      fmt::arg("met", met), fmt::arg("asked", asked), fmt::arg("sure", 100 * sure),
      fmt::arg("verdict", verdict), fmt::arg("score", 100 * (1 - brier)));
}

}  // namespace gradus::learn
