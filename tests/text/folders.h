#pragma once
// What loading a tokenizer says of its folder.

#include <string>

#include "gradus/core/error.h"
#include "gradus/text/tokenizer.h"
#include "support.h"

namespace gradus::test {

/// The message of loading a folder, without the folder's name.
template <class Load>
std::string said_of(const ScratchFolder& folder, const Load& load) {
  try {
    load(folder.path());
  } catch (const Error& error) {
    std::string text = error.what();
    const std::string name = folder.path().string() + "/";
    for (std::size_t at; (at = text.find(name)) != std::string::npos;) text.erase(at, name.size());
    return text;
  }
  return "nothing";
}

inline std::string said_of(const ScratchFolder& folder) { return said_of(folder, text::load_tokenizer); }

}  // namespace gradus::test
