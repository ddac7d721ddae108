#include "bench/record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/in_turn.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/program.h"

namespace gradus::bench {

namespace {

using Json = nlohmann::ordered_json;

struct Part {
  const char* name;
  Json (*measure)();
};

constexpr Part kParts[] = {
    {"profile", record_profile},     {"peaks", record_peaks},      {"points", record_points},
    {"kernels", record_kernels},     {"memory", record_memory},    {"fused", record_fused},
    {"attention", record_attention}, {"depth", record_depth},      {"width", record_width},
    {"threads", record_threads},     {"identity", record_identity}};

Json read(const std::string& file) {
  if (!std::filesystem::exists(file)) return Json::object();
  const Json all = Json::parse(kit::read_file(file), nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) throw Error(file + ": expects a JSON object, as --record writes it");
  return all;
}

Json how_measured(const char* products_by) {
  return {{"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
          {"version", version()},
          {"threads", num_threads()},
          {"isa", name(current_isa())},
          {"matmul", products_by}};
}

/// One line for each entry of a list, so that a diff shows what has changed.
void write(const std::string& file, const Json& data) {
  std::ostringstream text;
  text << "{";
  for (bool first = true; const auto& [key, value] : data.items()) {
    text << (first ? "\n" : ",\n") << Json(key) << ": ";
    first = false;
    if (!value.is_array()) {
      text << value;
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) text << (i == 0 ? "[\n  " : ",\n  ") << value[i];
    text << "]";
  }
  text << "\n}\n";
  kit::replace_file(file, text.str());
}

/// The number with three digits: more would only be noise in a diff.
void round_numbers(Json& value) {
  if (value.is_number_float()) value = std::stod(fmt::format("{:.3g}", value.get<double>()));
  if (value.is_structured())
    for (auto& part : value) round_numbers(part);
}

}  // namespace

std::vector<std::string> record_parts() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

void try_record(const std::string& file) {
  kit::try_output("--record", file);
  read(file);
}

void record(const std::string& file, const std::vector<std::string>& parts) {
  restore_settings();
  for (const Part& part : kParts) {
    if (!parts.empty() && std::find(parts.begin(), parts.end(), part.name) == parts.end()) continue;
    kit::print_error(fmt::format("bench: {} ...\n", part.name));
    Json measured = part.measure();
    restore_settings();
    round_numbers(measured);
    Json all = read(file);
    all[part.name] = std::move(measured);
    all["measured"] = how_measured(name(matmul_backend()));
    write(file, all);
  }
}

void record_comparison(const std::string& file, const std::string& json_lines) {
  Json all = read(file);
  std::istringstream lines(json_lines);
  for (std::string line; std::getline(lines, line);) {
    Json row = Json::parse(line);
    round_numbers(row);
    const bool in_bf16 = row.contains("precision");
    all[in_bf16 ? "measured_bf16" : "measured"] =
        how_measured(in_bf16 ? name(bf16_backend_in_use()) : name(matmul_backend()));
    Json& rows = all[in_bf16 ? "pytorch_bf16" : "pytorch"];
    if (!rows.is_array()) rows = Json::array();
    const auto old =
        std::find_if(rows.begin(), rows.end(), [&](const Json& r) { return r["case"] == row["case"]; });
    if (old == rows.end())
      rows.push_back(std::move(row));
    else
      *old = std::move(row);
  }
  write(file, all);
}

}  // namespace gradus::bench
