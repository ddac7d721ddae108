#include "gradus/text/utf8_stream.h"

#include "gradus/text/detail/unicode.h"

namespace gradus::text {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  std::string whole;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const std::size_t valid = detail::valid_prefix(rest);
    whole += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    const detail::Start start = detail::first_character(rest);
    if (start.unfinished) break;
    whole += kReplacement;
    rest.remove_prefix(start.bytes);
  }
  pending_ = std::string(rest);
  return whole;
}

std::string Utf8Stream::flush() {
  const bool unfinished = !pending_.empty();
  pending_.clear();
  return unfinished ? std::string(kReplacement) : "";
}

}  // namespace gradus::text
