#pragma once
// Small JSON files.

#include <nlohmann/json.hpp>
#include <string>

#include "gradus/core/io/detail/files.h"

namespace gradus::io {

/// The object that a file of at most `largest` bytes holds. Throws, naming the file, when it holds anything
/// else.
nlohmann::json read_json_object(const InputFile& file, std::uint64_t largest);

/// "a number", "a list", with its article: what a value is.
const char* kind_of(const nlohmann::json& value);

}  // namespace gradus::io
