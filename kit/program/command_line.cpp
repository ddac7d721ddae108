#include "gradus/kit/program/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/program/detail/read_number.h"
#include "gradus/kit/program/program.h"

namespace gradus::kit {
namespace {

bool inside(std::int64_t value, const IntegerRange& range) {
  return value >= range.low && value <= range.high;
}

bool inside(double value, const RealRange& range) {
  return std::isfinite(value) && value <= range.high &&
         (range.low_excluded ? value > range.low : value >= range.low);
}

std::string limits(const IntegerRange& range) {
  const IntegerRange any;
  if (range.low != any.low && range.high != any.high)
    return fmt::format(" from {} to {}", range.low, range.high);
  if (range.low != any.low) return fmt::format(" of at least {}", range.low);
  return range.high != any.high ? fmt::format(" of at most {}", range.high) : "";
}

std::string limits(const RealRange& range) {
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  if (low && range.low_excluded)
    return fmt::format(" above {}{}", range.low, high ? fmt::format(" and at most {}", range.high) : "");
  if (low && high) return fmt::format(" from {} to {}", range.low, range.high);
  if (low) return fmt::format(" of at least {}", range.low);
  return high ? fmt::format(" of at most {}", range.high) : "";
}

[[noreturn]] void reject(const std::string& name, const std::string& expected, const std::string& got) {
  throw CLI::ValidationError(name, fmt::format("expects {}; got \"{}\"", expected, got));
}

template <class T, class Range>
T read_one(const std::string& name, const std::string& words, const Range& range, const char* kind) {
  T value{};
  if (read_number(words, value) != std::errc() || !inside(value, range))
    reject(name, kind + limits(range), words);
  return value;
}

template <class T, class Range>
std::vector<T> read_list(const std::string& name, const std::string& words, const Range& range,
                         const char* kind, const char* example) {
  std::vector<T> values;
  std::size_t start = 0;
  while (start <= words.size()) {
    const std::size_t stop = std::min(words.find(',', start), words.size());
    T value{};
    const std::string_view word = std::string_view(words).substr(start, stop - start);
    if (read_number(word, value) != std::errc() || !inside(value, range)) {
      reject(name, fmt::format("{}{} such as {}", kind, limits(range), example), words);
    }
    values.push_back(value);
    start = stop + 1;
  }
  return values;
}

void require_one_of(const std::string& name, const std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end())
    reject(name, fmt::format("one of {}", fmt::join(words, ", ")), word);
}

/// "pre|post"; "NAME" for a long list, which only the message for a wrong word shows.
std::string kind_of(const std::vector<std::string>& words) {
  const std::string all = fmt::format("{}", fmt::join(words, "|"));
  return all.size() > 40 ? "NAME" : all;
}

/// The message for a wrong number of values; CLI11's message starts with the name of the option.
std::string count_problem(const CLI::App& app, const std::string& message) {
  const std::string said = message.substr(0, message.find_first_of(": "));
  for (const char* dashes : {"", "--", "-"}) {  // CLI11's messages about flags omit them
    const CLI::Option* option = app.get_option_no_throw(dashes + said);
    if (option == nullptr) continue;
    const std::string name = option->get_name();
    if (option->get_expected_max() == 0) return name + ": is on or off, and takes no value";
    if (option->count() > 1)
      return fmt::format("{}: is given {} times, expects one value", name, option->count());
    return name + ": expects a value after it";
  }
  return message;
}

/// "does not know --stepz", or "" if all options are known.
std::string unknown_option(const CLI::App& app) {
  std::vector<std::string> options = app.remaining();
  std::erase_if(options, [](const std::string& word) { return !word.starts_with('-'); });
  return options.empty() ? "" : fmt::format("does not know {}", fmt::join(options, " "));
}

/// Converts CLI11's exception for an invalid name, such as one added twice, to an Error.
auto with_name(const std::string& name, const auto& f) {
  try {
    return f();
  } catch (const CLI::Error& error) {
    fail_with("CommandLine: {}: expects a new name such as --steps, or CASE for an argument ({})",
              io::quote(name), error.what());
  }
}

}  // namespace

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine(std::string program, std::string description)
    : program_(std::move(program)), parser_(new Parser{CLI::App(std::move(description), program_)}) {
  parser_->app.set_help_flag("-h,--help", "Show this help");
  parser_->app.get_formatter()->column_width(34);
}

CommandLine::~CommandLine() = default;

void CommandLine::add(const std::string& name, const std::string& kind, const std::string& default_text,
                      const std::string& help, Reader read) {
  CLI::Option* option = with_name(
      name, [&] { return parser_->app.add_option_function<std::string>(name, std::move(read), help); });
  option->type_name(kind)->default_str(default_text);
}

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  with_name(name, [&] { return parser_->app.add_flag(name, value, help)->disable_flag_override(); });
}

void CommandLine::integer(const std::string& name, std::int64_t& value, const std::string& help,
                          IntegerRange range) {
  // A value outside its range means "not given"; the help text says what happens then.
  add(name, "N", inside(value, range) ? fmt::format("{}", value) : "", help,
      [&value, name, range](const std::string& words) {
        value = read_one<std::int64_t>(name, words, range, "a whole number");
      });
}

void CommandLine::real(const std::string& name, double& value, const std::string& help, RealRange range) {
  add(name, "X", fmt::format("{}", value), help, [&value, name, range](const std::string& words) {
    value = read_one<double>(name, words, range, "a number");
  });
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& help) {
  add(name, "TEXT", value, help, [&value](const std::string& words) { value = words; });
}

void CommandLine::path(const std::string& name, std::filesystem::path& value, const std::string& help) {
  add(name, "PATH", value.string(), help, [&value, name](const std::string& words) {
    if (words.empty()) reject(name, "a path", words);
    value = words;
  });
}

void CommandLine::choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
                         const std::string& help) {
  add(name, kind_of(words), value, help, [&value, name, words](const std::string& word) {
    require_one_of(name, words, word);
    value = word;
  });
}

void CommandLine::choices(const std::string& name, std::vector<std::string>& value,
                          const std::vector<std::string>& words, const std::string& help) {
  if (!name.starts_with('-')) {
    const auto read = [&value, name, words](const std::vector<std::string>& given) {
      for (const std::string& word : given) require_one_of(name, words, word);
      value = given;
    };
    CLI::Option* option = with_name(
        name, [&] { return parser_->app.add_option_function<std::vector<std::string>>(name, read, help); });
    option->type_name(kind_of(words))->default_str(fmt::format("{}", fmt::join(value, " ")));
    return;
  }
  add(name, kind_of(words), fmt::format("{}", fmt::join(value, ",")), help,
      [&value, name, words](const std::string& list) {
        value.clear();
        for (std::size_t start = 0, stop = 0; stop < list.size(); start = stop + 1) {
          stop = std::min(list.find(',', start), list.size());
          value.push_back(list.substr(start, stop - start));
          require_one_of(name, words, value.back());
        }
        if (value.empty()) require_one_of(name, words, "");
      });
}

void CommandLine::list(const std::string& name, std::vector<std::int64_t>& value, const std::string& help,
                       IntegerRange range) {
  add(name, "N,N,...", fmt::format("{}", fmt::join(value, ",")), help,
      [&value, name, range](const std::string& words) {
        value = read_list<std::int64_t>(name, words, range, "whole numbers", "2,6,12");
      });
}

void CommandLine::list(const std::string& name, std::vector<double>& value, const std::string& help,
                       RealRange range) {
  add(name, "X,X,...", fmt::format("{}", fmt::join(value, ",")), help,
      [&value, name, range](const std::string& words) {
        value = read_list<double>(name, words, range, "numbers", "0.0003,0.001,0.003");
      });
}

void CommandLine::footer(const std::string& text) { parser_->app.footer(text); }

std::optional<int> CommandLine::parse(int argc, const char* const* argv) {
  std::string problem;
  try {
    parser_->app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp& help) {
    return parser_->app.exit(help);
  } catch (const CLI::ExtrasError&) {
    problem = fmt::format("does not know {}", fmt::join(parser_->app.remaining(), " "));
  } catch (const CLI::ArgumentMismatch& error) {
    problem = count_problem(parser_->app, error.what());
  } catch (const CLI::ValidationError& error) {
    // CLI11 treats the value of an unknown option as an argument and reports that instead.
    problem = unknown_option(parser_->app);
    if (problem.empty()) problem = error.what();
  } catch (const CLI::ParseError& error) {
    problem = error.what();
  }
  print_error(
      fmt::format("{}: {}\n{} --help lists all options\n", program_, io::printable(problem), program_));
  return 2;
}

bool CommandLine::given(const std::string& name) const {
  const CLI::Option* option = parser_->app.get_option_no_throw(name);
  if (option != nullptr) return option->count() > 0;
  std::vector<std::string> names;
  for (const CLI::Option* one : parser_->app.get_options()) names.push_back(one->get_name());
  fail_with("CommandLine::given: there is no {}; there are {}", io::quote(name),
            fmt::format("{}", fmt::join(names, ", ")));
}

std::string CommandLine::first_given(std::initializer_list<const char*> names) const {
  const auto found = std::find_if(names.begin(), names.end(), [&](const char* name) { return given(name); });
  return found == names.end() ? "" : *found;
}

}  // namespace gradus::kit
