#pragma once
// Reads a JSON file key by key, with messages that name file and key.

#include <string>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/text/detail/tokenizer_files.h"

namespace gradus::text::detail {

/// An object inside a file, such as "tokenizer.json: model".
class Keys {
 public:
  Keys(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    check(object.is_object(), "{}: expects an object, got {}", where_, shown(object));
  }

  const std::string& where() const { return where_; }
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  const Json& at(const char* key) const {
    check(has(key), "{}: the key \"{}\" is missing", where_, key);
    return object_[key];
  }
  Keys object(const char* key) const { return Keys(at(key), where_ + "." + key); }
  /// The value of a key, or `otherwise` if it is missing or null; T is bool, std::int64_t or std::string.
  template <class T>
  T get(const char* key, const T& otherwise) const {
    return has(key) ? need<T>(key) : otherwise;
  }
  template <class T>
  T need(const char* key) const {
    const Json& value = at(key);
    if constexpr (std::is_same_v<T, bool>)
      check(value.is_boolean(), "{}: \"{}\" is {}; expects true or false", where_, key, shown(value));
    else if constexpr (std::is_same_v<T, std::int64_t>)
      check(value.is_number_integer(), "{}: \"{}\" is {}; expects a whole number", where_, key, shown(value));
    else
      check(value.is_string(), "{}: \"{}\" is {}; expects a string", where_, key, shown(value));
    return value.get<T>();
  }

  static std::string shown(const Json& value) {
    return value.is_structured() ? value.type_name() : io::quote(value.dump());
  }

 private:
  const Json& object_;
  std::string where_;
};

}  // namespace gradus::text::detail
