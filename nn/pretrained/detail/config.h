#pragma once
// config.json: the type and the options of a model.

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gradus/core/detail/format.h"

namespace gradus::nn::pretrained {

using Json = nlohmann::ordered_json;  // for writing: keeps the order of keys

/// Reads a config.json. Every message names caller, file and key. A null value counts as missing; unknown
/// keys are ignored.
class Config {
 public:
  /// `caller` is the function that the user called: "GPT::load_pretrained".
  Config(const char* caller, const std::string& folder);
  /// The same for a config that will be written.
  Config(const char* caller, const std::string& folder, const Json& text);

  bool has(std::string_view key) const;  // and its value is not null
  /// Whether the key exists, even with a null value.
  bool mentions(std::string_view key) const { return object_.contains(key); }
  /// A size: 1 to 2^30. Without a default the key must exist.
  std::int64_t size(std::string_view key, std::optional<std::int64_t> otherwise = {}) const;
  /// A whole number from `least` to 2^30.
  std::int64_t whole(std::string_view key, std::int64_t least,
                     std::optional<std::int64_t> otherwise = {}) const;
  double number(std::string_view key, std::optional<double> otherwise = {}) const;  // finite
  double probability(std::string_view key, std::optional<double> otherwise = {}) const;
  bool flag(std::string_view key, std::optional<bool> otherwise = {}) const;
  std::string text(std::string_view key) const;
  /// One of several strings: `config.choice("afn", {{"gelu", Activation::gelu}}, Activation::gelu)`. The
  /// message lists them.
  template <class T>
  T choice(std::string_view key, std::initializer_list<std::pair<const char*, T>> choices,
           std::optional<T> otherwise = {}) const {
    if (otherwise && !has(key)) return *otherwise;
    const std::string word = text(key);
    std::string known;
    for (const auto& [name, value] : choices) {
      if (word == name) return value;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    fail(key, fmt::format("'{}' is not known here: expects one of {}", word, known));
  }
  /// Throws if a flag is present and differs from the only value that gradus supports.
  void expect_flag(std::string_view key, bool value) const;
  /// A value of any type; null if there is no such key.
  const nlohmann::json& at(std::string_view key) const;

  /// "GPT::load_pretrained: gpt2/config.json: n_layer: " + message
  [[noreturn]] void fail(std::string_view key, const std::string& message) const;

  /// Returns make() and adds the name of this file, the source of its arguments, to its errors.
  template <class Make>
  auto explain(const Make& make) const {
    try {
      return make();
    } catch (const Error& error) {
      fail_with("{}: {}", label_, error.what());
    }
  }

  const char* caller() const { return caller_; }
  const std::string& label() const { return label_; }  // "GPT::load_pretrained: gpt2/config.json"

 private:
  const nlohmann::json* find(std::string_view key, bool required) const;

  const char* caller_;
  std::string label_;
  nlohmann::json object_;
};

}  // namespace gradus::nn::pretrained
