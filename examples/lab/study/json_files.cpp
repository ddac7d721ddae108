#include "lab/study/json_files.h"

#include <nlohmann/json.hpp>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/data/files.h"

namespace gradus::lab {
namespace {

constexpr int kDeepest = 64;  // the lab writes no deeper JSON

Json parse_json(std::string_view text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    check_input(depth <= kDeepest, "expects at most {} lists and objects inside each other", kDeepest);
    return true;
  });
}

}  // namespace

void write_json(const std::filesystem::path& path, const Json& value) {
  kit::replace_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json read_json(const std::filesystem::path& path) {
  const std::string text = kit::read_file(path);
  std::string reason;
  try {
    return parse_json(text);
  } catch (const Json::exception& error) {
    reason = error.what();
  } catch (const Error& error) {
    reason = error.what();
  }
  fail_input_with("read_json: {}: {}", io::printable(path.string()), io::printable(reason));
}

}  // namespace gradus::lab
