#pragma once
// Lines and numbers as people type them.

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gradus::learn {

/// The text with Arabic, Persian and full-width digits and symbols converted to ASCII.
std::string ascii_numbers(std::string_view line);

/// A number with a confidence: "2.5", "2,5", "2.5 80%". Nothing if it is invalid or ambiguous: 1,000.
std::optional<std::pair<double, double>> read_prediction(std::string_view line);

/// A number alone: "2.5", "2,5". Nothing if it is invalid or ambiguous, as above, or has a unit.
std::optional<double> read_number(std::string_view line);

/// A whole number from 1 to `all`; nothing if it is anything else.
std::optional<std::size_t> read_choice(std::string_view line, std::size_t all);

/// The next line, without its end; false if there is none. Throws an Error if it has more than 1 MiB.
bool read_line(std::istream& in, std::string& line);

}  // namespace gradus::learn
