#pragma once
// Requests to the page's library, as the page sends them.

#include <nlohmann/json.hpp>
#include <string>

#include "browser/answer.h"

namespace gradus::test {

inline nlohmann::json ask(const std::string& request) {
  return nlohmann::json::parse(browser::answer(request));
}

/// What a request is refused with; nothing where it is answered.
inline std::string error_of(const std::string& request) { return ask(request).value("error", ""); }

}  // namespace gradus::test
