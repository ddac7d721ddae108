#pragma once
// config.json: a few numbers and words that say what a model is.

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gradus/core/detail/format.h"

namespace gradus::nn::pretrained {

using Json = nlohmann::ordered_json;  // for writing: keys stay in their order

/// A config.json that is read. Every message names caller, file and key. A key that is null is not there;
/// keys nobody asks for are ignored.
class Config {
 public:
  /// `caller` is what the user called: "GPT::load_pretrained".
  Config(const char* caller, const std::string& folder);
  /// The same of what is about to be written.
  Config(const char* caller, const std::string& folder, const Json& text);

  bool has(std::string_view key) const;  // and it is not null
  /// Whether the key is there, even if it is null.
  bool mentions(std::string_view key) const { return object_.contains(key); }
  /// A size: 1 to 2^30. Without a default the key must be there.
  std::int64_t size(std::string_view key, std::optional<std::int64_t> otherwise = {}) const;
  /// A whole number from `least` to 2^30.
  std::int64_t whole(std::string_view key, std::int64_t least,
                     std::optional<std::int64_t> otherwise = {}) const;
  double number(std::string_view key, std::optional<double> otherwise = {}) const;  // finite
  double probability(std::string_view key, std::optional<double> otherwise = {}) const;
  bool flag(std::string_view key, std::optional<bool> otherwise = {}) const;
  std::string text(std::string_view key, std::optional<std::string> otherwise = {}) const;
  /// One of a few words: `config.choice("afn", {{"gelu", Activation::gelu}}, Activation::gelu)`. The message
  /// lists them.
  template <class T>
  T choice(std::string_view key, std::initializer_list<std::pair<const char*, T>> words,
           std::optional<T> otherwise = {}) const {
    if (otherwise && !has(key)) return *otherwise;
    const std::string word = text(key);
    std::string known;
    for (const auto& [name, value] : words) {
      if (word == name) return value;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    fail(key, fmt::format("'{}' is not known here: expects one of {}", word, known));
  }
  /// Throws unless a flag is as gradus has it, where it is given.
  void expect_flag(std::string_view key, bool value) const;
  /// For what is not a number or a word; null where there is no such key.
  const nlohmann::json& at(std::string_view key) const;

  /// "GPT::load_pretrained: gpt2/config.json: n_layer: " + message
  [[noreturn]] void fail(std::string_view key, const std::string& message) const;

  /// make(), with this file named in its errors: what it was told comes from here.
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
