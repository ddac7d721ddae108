#include "gradus/core/io/detail/json_file.h"

#include "gradus/core/detail/format.h"

namespace gradus::io {

using nlohmann::json;

json read_json_object(const InputFile& file, std::uint64_t largest) {
  check(file.size() <= largest, "{}: has {} bytes, expects at most {}", file.label(), file.size(), largest);
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  // The parser takes a zero byte for the end of the text.
  const std::size_t zero = text.find('\0');
  check(zero == std::string::npos, "{}: not JSON at its byte {}", file.label(), zero + 1);
  json value;
  try {
    value = json::parse(text);
  } catch (const json::parse_error& error) {
    fail_with("{}: not JSON at its byte {}{}", file.label(), error.byte,
              error.byte > text.size() ? ", its end: is it cut short?" : "");
  } catch (const json::exception&) {  // a number too large for any type
    fail_with("{}: not JSON: a number is out of range", file.label());
  }
  check(value.is_object(), "{}: expects a JSON object, got {}", file.label(), kind_of(value));
  return value;
}

const char* kind_of(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "true or false";
  if (value.is_number()) return "a number";
  return "null";
}

}  // namespace gradus::io
