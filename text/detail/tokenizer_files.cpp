#include "gradus/text/detail/tokenizer_files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_set>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/printable.h"

namespace gradus::text::detail {
namespace {

constexpr int kDeepest = 64;

/// Called by the parser: rejects JSON nested too deep for a tokenizer, and a key that appears twice.
class Watch {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& value) {
    check(depth <= kDeepest, "expects at most {} lists and objects inside each other", kDeepest);
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second)
        fail_with("the key {} appears twice in one object", io::quote(key));
    }
    return true;
  }

 private:
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

bool exists(const std::string& who, const std::filesystem::path& path) {
  return io::exists(who, path.string());
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown);
}

std::string named(const std::filesystem::path& path) { return io::printable(path.string()); }

std::string json_quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string read_file(const std::string& who, const std::filesystem::path& path) {
  check(!is_folder(path), "{}: {} is a folder, expects a file", who, named(path));
  std::error_code unknown;  // ignored: opening a missing file reports it
  const auto status = std::filesystem::status(path, unknown);
  check(!std::filesystem::exists(status) || std::filesystem::is_regular_file(status),
        "{}: {} is a pipe or a device, expects a file", who, named(path));
  std::ifstream file(path, std::ios::binary);
  check(file.is_open(), "{}: cannot open {}: {}", who, named(path), std::strerror(errno));
  std::string bytes, chunk(1 << 16, '\0');
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0)
    bytes.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  check(!file.bad(), "{}: cannot read {}: {}", who, named(path), std::strerror(errno));
  return bytes;
}

std::vector<std::string> read_lines(const std::string& who, const std::filesystem::path& path) {
  const std::string bytes = read_file(who, path);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    lines.push_back(bytes.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

Json read_json(const std::string& who, const std::filesystem::path& path) {
  const std::string text = read_file(who, path);
  std::string reason;
  try {
    Watch watch;
    return Json::parse(
        text, [&](int depth, Json::parse_event_t event, Json& value) { return watch(depth, event, value); });
  } catch (const Json::exception& error) {
    reason = error.what();
  } catch (const Error& error) {
    reason = error.what();
  }
  fail_with("{}: {} is not valid JSON: {}; is it cut short?", who, named(path), io::printable(reason));
}

void write_file(const std::string& who, const std::filesystem::path& path, std::string_view bytes) {
  io::AtomicFile file(who.c_str(), path.string());
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace gradus::text::detail
