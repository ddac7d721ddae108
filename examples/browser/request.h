#pragma once
// Checked access to the fields of requests.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gradus/core/check.h"

namespace gradus::browser {

using Json = nlohmann::ordered_json;

inline std::int64_t whole(const Json& value, const char* name) {
  check(value.is_number_integer(), "{}: expects a whole number, got {}", name, value.dump());
  return value.get<std::int64_t>();
}

inline double number(const Json& value, const char* name) {
  check(value.is_number(), "{}: expects a number, got {}", name, value.dump());
  return value.get<double>();
}

inline bool yes_or_no(const Json& value, const char* name) {
  check(value.is_boolean(), "{}: expects true or false, got {}", name, value.dump());
  return value.get<bool>();
}

inline std::string word(const Json& value, const char* name) {
  check(value.is_string(), "{}: expects a name, got {}", name, value.dump());
  return value.get<std::string>();
}

inline std::vector<double> numbers(const Json& value, const char* name) {
  check(value.is_array(), "{}: expects numbers, got {}", name, value.dump());
  std::vector<double> all;
  for (const Json& one : value) all.push_back(number(one, name));
  return all;
}

}  // namespace gradus::browser
