#pragma once

#include <string>
#include <string_view>

namespace gradus::text::detail {

/// Replaces every `from`, found from left to right, by `to`.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = 0, next = text.find(from);
  if (next == std::string::npos) return;
  std::string replaced;
  for (; next != std::string::npos; next = text.find(from, at)) {
    replaced.append(text, at, next - at).append(to);
    at = next + from.size();
  }
  text = replaced.append(text, at);
}

}  // namespace gradus::text::detail
