#pragma once
// Reads numbers independently of the locale.

#include <charconv>
#include <string_view>
#include <system_error>

namespace gradus::kit {

/// Reads the whole text as one number: returns errc() if it is one, result_out_of_range if T cannot represent
/// it, and invalid_argument for anything else, such as "3x", " 3" or "". A leading plus is allowed.
template <class T>
std::errc read_number(std::string_view text, T& value) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return stop == end && !text.empty() ? error : std::errc::invalid_argument;
}

}  // namespace gradus::kit
