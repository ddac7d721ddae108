#include "gradus/nn/pretrained/detail/config.h"

#include <cmath>
#include <filesystem>

#include "gradus/core/io/detail/input_file.h"
#include "gradus/core/io/printable.h"

namespace gradus::nn::pretrained {

using nlohmann::json;

namespace {

constexpr std::uint64_t kLargestConfig = 1'000'000;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 30;  // products of two, and sums of these, fit

std::string path_of(const std::string& folder) {
  return (std::filesystem::path(folder) / "config.json").string();
}

/// The type of a value with its article: "a number", "a list".
const char* kind_of(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "true or false";
  if (value.is_number()) return "a number";
  return "null";
}

/// Parses the JSON object in the file.
json read_object(const io::InputFile& file) {
  check(file.size() <= kLargestConfig, "{}: has {} bytes, expects at most {}", file.label(), file.size(),
        kLargestConfig);
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

}  // namespace

Config::Config(const char* caller, const std::string& folder) : caller_(caller) {
  std::error_code ignored;
  check(std::filesystem::is_directory(folder, ignored),
        "{}: {} is not a folder: expects one with config.json and model.safetensors; nothing is downloaded",
        caller, io::printable(folder));
  const io::InputFile file(caller, path_of(folder));
  label_ = file.label();
  object_ = read_object(file);
}

Config::Config(const char* caller, const std::string& folder, const Json& text)
    : caller_(caller), label_(fmt::format("{}: {}", caller, io::printable(path_of(folder)))), object_(text) {}

void Config::fail(std::string_view key, const std::string& message) const {
  fail_with("{}: {}: {}", label_, key, message);
}

/// nullptr if the key is missing or null; throws if it is required.
const json* Config::find(std::string_view key, bool required) const {
  const auto entry = object_.find(key);
  if (entry != object_.end() && !entry->is_null()) return &*entry;
  if (required) fail(key, "is missing: is this the config.json of another type of model?");
  return nullptr;
}

bool Config::has(std::string_view key) const { return find(key, false) != nullptr; }

static const json nothing;

const json& Config::at(std::string_view key) const {
  const json* const value = find(key, false);
  return value ? *value : nothing;
}

std::int64_t Config::whole(std::string_view key, std::int64_t least,
                           std::optional<std::int64_t> otherwise) const {
  const json* const value = find(key, !otherwise);
  if (!value) return *otherwise;
  const bool whole = value->is_number_integer();
  if (!whole || (value->is_number_unsigned() ? value->get<std::uint64_t>() > kLargestSize : false) ||
      value->get<std::int64_t>() < least || value->get<std::int64_t>() > kLargestSize)
    fail(key, fmt::format("expects a whole number from {} to {}, got {}", least, kLargestSize,
                          io::printable(value->is_structured() ? kind_of(*value) : value->dump())));
  return value->get<std::int64_t>();
}

std::int64_t Config::size(std::string_view key, std::optional<std::int64_t> otherwise) const {
  return whole(key, 1, otherwise);
}

double Config::number(std::string_view key, std::optional<double> otherwise) const {
  const json* const value = find(key, !otherwise);
  if (!value) return *otherwise;
  if (!value->is_number()) fail(key, fmt::format("expects a number, got {}", kind_of(*value)));
  return value->get<double>();
}

double Config::probability(std::string_view key, std::optional<double> otherwise) const {
  const double p = number(key, otherwise);
  if (!(p >= 0 && p < 1)) fail(key, fmt::format("expects a number from 0 to 1, 1 not included, got {}", p));
  return p;
}

bool Config::flag(std::string_view key, std::optional<bool> otherwise) const {
  const json* const value = find(key, !otherwise);
  if (!value) return *otherwise;
  if (!value->is_boolean()) fail(key, fmt::format("expects true or false, got {}", kind_of(*value)));
  return value->get<bool>();
}

std::string Config::text(std::string_view key) const {
  const json& value = *find(key, true);
  if (!value.is_string()) fail(key, fmt::format("expects a string, got {}", kind_of(value)));
  return io::printable(value.get_ref<const std::string&>());
}

void Config::expect_flag(std::string_view key, bool value) const {
  if (flag(key, value) != value)
    fail(key, fmt::format("{} is not supported here: expects {}", !value, value));
}

}  // namespace gradus::nn::pretrained
