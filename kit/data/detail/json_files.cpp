#include "gradus/kit/data/detail/json_files.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "gradus/core/io/files.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/check.h"

namespace gradus::kit {
namespace {

constexpr int kDeepest = 64;  // no program here writes deeper JSON

}  // namespace

Json parse_json(std::string_view text) {
  return Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
    check_input(depth <= kDeepest, "expects at most {} lists and objects inside each other", kDeepest);
    return true;
  });
}

void write_json(const std::filesystem::path& path, const Json& value) {
  replace_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
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

}  // namespace gradus::kit
