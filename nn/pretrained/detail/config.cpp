#include "gradus/nn/pretrained/detail/config.h"

#include <cmath>
#include <filesystem>

#include "gradus/core/io/detail/files.h"
#include "gradus/core/io/detail/json_file.h"

namespace gradus::nn::pretrained {

using nlohmann::json;

namespace {

constexpr std::uint64_t kLargestConfig = 10'000'000;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 30;  // products of two, and sums of these, fit

std::string path_of(const std::string& folder) {
  return (std::filesystem::path(folder) / "config.json").string();
}

}  // namespace

Config::Config(const char* caller, const std::string& folder) : caller_(caller) {
  const io::InputFile file(caller, path_of(folder));
  label_ = file.label();
  object_ = io::read_json_object(file, kLargestConfig);
}

Config::Config(const char* caller, const std::string& folder, const Json& text)
    : caller_(caller), label_(fmt::format("{}: {}", caller, io::printable(path_of(folder)))), object_(text) {}

void Config::fail(std::string_view key, const std::string& message) const {
  fail_with("{}: {}: {}", label_, key, message);
}

/// nullptr where it is null or not there, unless it must be.
const json* Config::find(std::string_view key, bool required) const {
  const auto entry = object_.find(key);
  if (entry != object_.end() && !entry->is_null()) return &*entry;
  if (required) fail(key, "is missing: is this the config.json of another kind of model?");
  return nullptr;
}

bool Config::has(std::string_view key) const { return find(key, false) != nullptr; }

const json& Config::at(std::string_view key) const {
  static const json nothing;
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
                          io::printable(value->is_structured() ? io::kind_of(*value) : value->dump())));
  return value->get<std::int64_t>();
}

std::int64_t Config::size(std::string_view key, std::optional<std::int64_t> otherwise) const {
  return whole(key, 1, otherwise);
}

double Config::number(std::string_view key, std::optional<double> otherwise) const {
  const json* const value = find(key, !otherwise);
  if (!value) return *otherwise;
  if (!value->is_number()) fail(key, fmt::format("expects a number, got {}", io::kind_of(*value)));
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
  if (!value->is_boolean()) fail(key, fmt::format("expects true or false, got {}", io::kind_of(*value)));
  return value->get<bool>();
}

std::string Config::text(std::string_view key, std::optional<std::string> otherwise) const {
  const json* const value = find(key, !otherwise);
  if (!value) return *otherwise;
  if (!value->is_string()) fail(key, fmt::format("expects a string, got {}", io::kind_of(*value)));
  return io::printable(value->get_ref<const std::string&>());
}

void Config::expect_flag(std::string_view key, bool value) const {
  if (flag(key, value) != value)
    fail(key, fmt::format("{} is not supported here: expects {}", !value, value));
}

}  // namespace gradus::nn::pretrained
