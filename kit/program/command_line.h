#pragma once
// CommandLine: reads a program's options, with messages that say what was expected. It uses CLI11, which
// programs need not compile.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// The limits of an option's value, both included: `at_least(1)`, `{0, 1000}`, `between(0, 1)`, `above(0)`.
struct IntegerRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();   // the smallest
  std::int64_t high = std::numeric_limits<std::int64_t>::max();  // the largest
};
struct RealRange {
  double low = -std::numeric_limits<double>::infinity();  // the smallest
  double high = std::numeric_limits<double>::infinity();  // the largest
  bool low_excluded = false;                              // `low` itself is rejected
};

/// Limits by name, for the calls below.
constexpr IntegerRange at_least(std::int64_t low) { return {low}; }
constexpr RealRange above(double low) { return {low, std::numeric_limits<double>::infinity(), true}; }
constexpr RealRange between(double low, double high) { return {low, high, false}; }

/// The options of a program. Each call binds a name to a variable whose value is the default.
///
///   std::vector<std::int64_t> depths = {2, 6, 12};
///   CommandLine line("lab", "Compares Pre-LN and Post-LN Transformers.");
///   line.list("--depths", depths, "Numbers of layers", at_least(1));
///   if (const auto status = line.parse(argc, argv)) return *status;
///
/// An invalid name, or a name added twice, is an Error. A bad value results in exit status 2 and one line on
/// stderr:
///   `lab: --depths: expects whole numbers of at least 1 such as 2,6,12; got "2,x"`
class CommandLine {
 public:
  CommandLine(std::string program, std::string description);
  ~CommandLine();

  /// Options without a value, with a whole number, a number or a text.
  void flag(const std::string& name, bool& value, const std::string& help);
  void integer(const std::string& name, std::int64_t& value, const std::string& help,
               IntegerRange range = {});
  void real(const std::string& name, double& value, const std::string& help, RealRange range = {});
  void text(const std::string& name, std::string& value, const std::string& help);
  /// A path; the file or folder need not exist.
  void path(const std::string& name, std::filesystem::path& value, const std::string& help);
  /// One of the given words. A name without dashes, such as "CASE", is an argument, not an option.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
              const std::string& help);
  /// Several of the given words, separated by commas; as arguments (a name without dashes), by blanks.
  void choices(const std::string& name, std::vector<std::string>& value,
               const std::vector<std::string>& words, const std::string& help);
  /// Several numbers, separated by commas.
  void list(const std::string& name, std::vector<std::int64_t>& value, const std::string& help,
            IntegerRange range = {});
  void list(const std::string& name, std::vector<double>& value, const std::string& help,
            RealRange range = {});

  /// Lines shown after the options of --help, such as examples.
  void footer(const std::string& text);

  /// Reads the arguments. Returns nullopt if the program should continue, else its exit status: 0 after
  /// --help, 2 after a message on stderr.
  std::optional<int> parse(int argc, const char* const* argv);

  /// True when the option was given on the command line; throws for an unknown name.
  bool given(const std::string& name) const;
  /// The first of these that was given; "" if none was.
  std::string first_given(std::initializer_list<const char*> names) const;

 private:
  using Reader = std::function<void(const std::string& words)>;
  void add(const std::string& name, const std::string& kind, const std::string& default_text,
           const std::string& help, Reader read);

  struct Parser;
  std::string program_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace gradus::kit
