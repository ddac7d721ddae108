#pragma once
// Numbers as people type them.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gradus::learn {

/// The text with Arabic, Persian and full-width digits and signs as those of ASCII.
std::string ascii_numbers(std::string_view line);

/// A number, and how sure one is of it: "2.5", "2,5", "2.5 80%". Nothing when it is no such thing, or when it
/// may be two: 1,000.
std::optional<std::pair<double, double>> read_prediction(std::string_view line);

}  // namespace gradus::learn
