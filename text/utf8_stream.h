#pragma once
// Printing a text while it is written: tokens may end in the middle of a character.
//
//   text::Utf8Stream out;
//   for (const std::int64_t id : ids) std::cout << out.push(tokenizer.bytes(id)) << std::flush;
//   std::cout << out.flush();

#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::text {

/// Bytes in, whole characters out: what comes out is UTF-8, cut nowhere inside a character.
class Utf8Stream {
 public:
  /// The characters that these bytes complete. Bytes that can be no part of one become U+FFFD.
  std::string push(std::string_view bytes);
  /// At the end: U+FFFD where a character was left unfinished, else nothing.
  std::string flush();

 private:
  std::string pending_;
};

}  // namespace gradus::text
