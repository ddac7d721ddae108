#include "gradus/core/io/files.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/detail/system_calls.h"

namespace gradus::io {

namespace fs = std::filesystem;

namespace {

/// The character at the front of a text, or a byte that is not UTF-8.
struct Front {
  std::size_t bytes = 1;
  bool shown = false;  // harmless in a terminal
};

Front front_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first >= ' ' && first != 0x7f};
  const std::size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || count > text.size()) return {};
  for (std::size_t i = 1; i < count; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return {};
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  if (overlong || no_character) return {};
  const std::string_view character = text.substr(0, count);
  const bool control = first == 0xc2 && second < 0xa0;
  const bool turns = (character >= "\u202a" && character <= "\u202e") ||  // the direction of what follows
                     (character >= "\u2066" && character <= "\u2069");
  return {count, !control && !turns};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [bytes, shown] = front_of(text);
    shown ? result += text.substr(0, bytes) : result.append(bytes, '?');
    text.remove_prefix(bytes);
  }
  return result;
}

std::string printable_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [bytes, shown] = front_of(text);
    const bool layout = text[0] == '\n' || text[0] == '\t' || text.starts_with("\r\n");
    result += shown || layout ? text.substr(0, bytes) : "\uFFFD";
    text.remove_prefix(bytes);
  }
  return result;
}

bool exists(std::string_view op, const std::string& path) {
  std::error_code error;
  const bool found = fs::exists(path, error);
  check_input(!error, "{}: cannot look at {}: {}", op, printable(path), error.message());
  return found;
}

std::string quote(const std::string& text) {
  std::size_t size = std::min<std::size_t>(text.size(), 80);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return "'" + printable(std::string_view(text).substr(0, size)) + (size < text.size() ? "...'" : "'");
}

int open_file(const std::string& path, int flags, unsigned mode) {
  const int descriptor = retrying([&] { return open(path.c_str(), flags | O_CLOEXEC, mode); });
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int reason = errno;
  close(descriptor);
  errno = reason;
  return higher;
}

void make_folder(const char* op, const std::string& folder) {
  const std::string label = label_of(op, folder);
  std::vector<fs::path> missing;
  std::error_code error;
  fs::path above = fs::absolute(folder, error);
  while (!error && !fs::exists(above, error) && above.has_relative_path()) {
    missing.push_back(above);
    above = above.parent_path();
  }
  fs::create_directories(folder, error);
  // What exists already need not be a folder.
  if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
  check_input(!error, "{}: cannot make the folder: {}", label, error.message());
  for (const fs::path& made : missing) flush_folder(label, made.parent_path().string());
}

}  // namespace gradus::io
