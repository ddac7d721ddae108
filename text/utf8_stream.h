#pragma once
// Utf8Stream: prints text during generation, when tokens may end in the middle of a character.
//
//   text::Utf8Stream out;
//   for (const std::int64_t id : ids) std::cout << out.push(tokenizer.bytes(id)) << std::flush;
//   std::cout << out.flush();

#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::text {

/// Takes bytes and returns whole characters: the output is valid UTF-8, never split inside a character.
class Utf8Stream {
 public:
  /// The characters that these bytes complete. Invalid bytes become U+FFFD.
  std::string push(std::string_view bytes);
  /// Call it at the end: returns U+FFFD if a character is incomplete, else "".
  std::string flush();

 private:
  std::string pending_;
};

}  // namespace gradus::text
