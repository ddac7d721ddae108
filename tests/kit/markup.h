#pragma once
// A small strict parser of XML and HTML, so that a drawing or page that a browser would have to repair fails.

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace gradus::test {

// The first error in the markup; "" if it is well formed.
inline std::string flaw_in(std::string_view text) {
  const std::vector<std::string_view> void_tags = {"meta", "!doctype", "br"};
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '>') return "a bare > near: " + std::string(text.substr(i > 20 ? i - 20 : 0, 40));
    if (c == '&') {
      const std::size_t end = text.find(';', i);
      if (end == std::string_view::npos || end - i > 8)
        return "a bare & near: " + std::string(text.substr(i, 30));
    }
    if (c != '<') continue;
    std::size_t end = i + 1;
    bool quoted = false;
    for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "a < inside a tag near: " + std::string(text.substr(i, 60));
    }
    if (end == text.size()) return "a tag without its end";
    const std::string_view tag = text.substr(i + 1, end - i - 1);
    std::size_t name_end = tag.starts_with('/') ? 1 : 0;
    while (name_end < tag.size() &&
           (std::isalnum(static_cast<unsigned char>(tag[name_end])) || tag[name_end] == '!'))
      ++name_end;
    const std::string name(
        tag.substr(tag.starts_with('/') ? 1 : 0, name_end - (tag.starts_with('/') ? 1 : 0)));
    i = end;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != name) return "an end of <" + name + "> that is not open";
      open.pop_back();
      continue;
    }
    bool is_void = tag.ends_with('/');
    for (const std::string_view other : void_tags) is_void = is_void || name == other;
    if (is_void) continue;
    open.push_back(name);
    if (name == "style") i = text.find("</style>", i) - 1;  // CSS has its own rules
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t i = text.find(part); i != std::string_view::npos; i = text.find(part, i + 1)) ++count;
  return count;
}

}  // namespace gradus::test
