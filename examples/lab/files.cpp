#include "lab/files.h"

#include <nlohmann/json.hpp>

#include "gradus/core/io/files.h"
#include "gradus/core/version.h"
#include "gradus/kit/data/detail/json_files.h"
#include "gradus/kit/data/system_info.h"
#include "gradus/kit/program/detail/check.h"
#include "gradus/ops/backend.h"
#include "lab/limits.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

using kit::Json;
using kit::number;
using Path = std::filesystem::path;

std::vector<double> numbers(const Json& values) {
  std::vector<double> result;
  for (const Json& value : values) result.push_back(number(value));
  return result;
}

[[noreturn]] void not_as_written(const Path& path, const std::exception& error) {
  kit::fail_input_with("{}: not as the lab writes it ({})", io::printable(path.string()),
                       io::printable(error.what()));
}

/// Calls `read` on a file's JSON; a missing key, a wrong type or a value out of range becomes an error that
/// names the file.
template <class F>
auto read_with(const Path& path, const F& read) {
  const Json json = kit::read_json(path);
  try {
    return read(json);
  } catch (const Json::exception& error) {
    not_as_written(path, error);
  } catch (const Error& error) {
    not_as_written(path, error);
  }
}

/// Nothing is converted on the way: 1e30 or true is no whole number.
std::int64_t integer(const Json& value, const std::string& key, const kit::IntegerRange& range) {
  const bool fits =
      value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer();
  const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
  kit::check_input(fits && number >= range.low && number <= range.high,
                   "{} expects a whole number from {} to {}, got {}", key, range.low, range.high,
                   io::quote(value.dump()));
  return number;
}

void read_integer(const Json& json, const std::string& key, std::int64_t& value,
                  const kit::IntegerRange& range) {
  value = integer(json.at(key), key, range);
}

void read_integers(const Json& json, const std::string& key, std::vector<std::int64_t>& values,
                   const kit::IntegerRange& range) {
  kit::check_input(json.at(key).is_array() && !json.at(key).empty(), "{} expects a list of whole numbers",
                   key);
  values.clear();
  for (const Json& value : json.at(key)) values.push_back(integer(value, key, range));
}

Json json_of(const TaskFacts& task) {
  return {{"name", task.name},
          {"vocabulary", task.vocabulary},
          {"context", task.context},
          {"entropy", task.entropy ? Json(*task.entropy) : Json()},
          {"context_free_loss", task.context_free_loss},
          {"ngram", {{"n", task.ngram.n}, {"loss", task.ngram.loss}, {"losses", task.ngram.losses}}},
          {"sha256", task.sha256}};
}

TaskFacts task_from(const Json& json) {
  TaskFacts task;
  task.name = json.at("name").get<std::string>();
  read_integer(json, "vocabulary", task.vocabulary, kit::at_least(1));
  read_integer(json, "context", task.context, kWindow);
  if (json.at("entropy").is_number()) task.entropy = json.at("entropy").get<double>();
  task.context_free_loss = json.at("context_free_loss").get<double>();
  const Json& ngram = json.at("ngram");
  task.ngram = {static_cast<int>(integer(ngram.at("n"), "n", {1, 64})), ngram.at("loss").get<double>(),
                numbers(ngram.at("losses"))};
  task.sha256 = json.at("sha256").get<std::string>();
  return task;
}

/// Two names. Pre-LN and Post-LN, what older versions compared, go without saying.
Placements placements_from(const Json& json) {
  const auto names = json.get<std::vector<std::string>>();
  kit::check_input(names.size() == 2 && names[0] != names[1], "placements expects two names, got {}",
                   io::quote(json.dump()));
  return {placement_named(names[0]), placement_named(names[1])};
}

Json json_of(const LabOptions& options) {
  const ModelOptions& model = options.model;
  const RecallOptions& recall = options.recall;
  const InitialisationOptions& start = options.initialisation;
  Json json = {
      {"quick", options.quick},
      {"text", options.text.empty() ? "" : std::filesystem::absolute(options.text).string()},
      {"seed", options.seed},
      {"seeds", options.seeds},
      {"threads", options.threads},
      {"depths", options.depths},
      {"lrs", options.lrs},
      {"warmups", options.warmups},
      {"model",
       {{"d_model", model.d_model}, {"heads", model.heads}, {"batch", model.batch}, {"steps", model.steps}}},
      {"recall", {{"boxes", recall.boxes}, {"things", recall.things}, {"length", recall.length}}},
      {"initialisation",
       {{"depths", start.depths},
        {"d_model", start.d_model},
        {"positions", start.positions},
        {"classes", start.classes},
        {"seeds", start.seeds}}}};
  if (!pre_and_post(options.placements))
    json["placements"] = {name_of(options.placements[0]), name_of(options.placements[1])};
  return json;
}

LabOptions options_from(const Json& json) {
  LabOptions options;
  json.at("quick").get_to(options.quick);
  options.text = json.at("text").get<std::string>();
  options.seed = static_cast<std::uint64_t>(integer(json.at("seed"), "seed", kSeed));
  read_integer(json, "seeds", options.seeds, kSeeds);
  read_integer(json, "threads", options.threads, kThreads);
  read_integers(json, "depths", options.depths, kDepths);
  json.at("lrs").get_to(options.lrs);
  kit::check_input(!options.lrs.empty(), "lrs expects a list of numbers");
  for (const double lr : options.lrs) kit::check_input(lr > 0, "lrs expects numbers above 0, got {}", lr);
  read_integers(json, "warmups", options.warmups, kWarmups);
  if (json.contains("placements")) options.placements = placements_from(json.at("placements"));
  check_number_of_runs(options);
  const Json &model = json.at("model"), &recall = json.at("recall"), &start = json.at("initialisation");
  read_integer(model, "d_model", options.model.d_model, kWidth);
  read_integer(model, "heads", options.model.heads, kWidth);
  kit::check_input(options.model.d_model % options.model.heads == 0, "heads {} does not divide d_model {}",
                   options.model.heads, options.model.d_model);
  read_integer(model, "batch", options.model.batch, kWindow);
  read_integer(model, "steps", options.model.steps, kSteps);
  read_integer(recall, "boxes", options.recall.boxes, {2, 10});
  read_integer(recall, "things", options.recall.things, {2, 26});
  read_integer(recall, "length", options.recall.length, kWindow);
  read_integers(start, "depths", options.initialisation.depths, kDepths);
  read_integer(start, "d_model", options.initialisation.d_model, kWidth);
  read_integer(start, "positions", options.initialisation.positions, kWindow);
  read_integer(start, "classes", options.initialisation.classes, kWindow);
  read_integer(start, "seeds", options.initialisation.seeds, kSeeds);
  options.initialisation.seed = options.seed;
  options.initialisation.placements = options.placements;
  return options;
}

/// A list with a number for each of `layers`.
std::vector<double> by_layer(const Json& state, const char* key, std::int64_t layers) {
  std::vector<double> values = numbers(state.at(key));
  kit::check_input(values.size() == static_cast<std::size_t>(layers), "{} expects {} numbers, got {}", key,
                   layers, values.size());
  return values;
}

/// A list that older versions did not write.
std::vector<double> if_there(const Json& state, const char* key) {
  return state.contains(key) ? numbers(state.at(key)) : std::vector<double>{};
}

Initialisation initialisation_from(const Json& json) {
  Initialisation result;
  result.seconds = json.at("seconds").get<double>();
  const Json& jacobian = json.at("layer_norm_jacobian");
  result.jacobian = {.max_error = number(jacobian.at("max_error")),
                     .wrong_mean_only = number(jacobian.at("wrong_mean_only")),
                     .wrong_constant_sigma = number(jacobian.at("wrong_constant_sigma"))};
  for (const Json& state : json.at("states")) {
    const std::int64_t layers = integer(state.at("layers"), "layers", kDepths);
    result.states.push_back({.placement = placement_named(state.at("placement").get<std::string>()),
                             .layers = layers,
                             .norm_squared = by_layer(state, "norm_squared", layers),
                             .gradient = by_layer(state, "gradient", layers),
                             .activation_gradient = by_layer(state, "activation_gradient", layers),
                             .top_gradient = number(state.at("top_gradient")),
                             .top_gradient_std = number(state.at("top_gradient_std")),
                             .weight_share = if_there(state, "weight_share"),
                             .activation_share = if_there(state, "activation_share")});
  }
  if (json.contains("schemes")) result.schemes = schemes_from(json.at("schemes"));
  return result;
}

void check_placements(const Initialisation& initialisation, const Placements& compared) {
  const auto expect = [&](const Placement& placement) {
    kit::check_input(contains(compared, placement), "it has {}, config.json compares {} and {}",
                     title_of(placement), title_of(compared[0]), title_of(compared[1]));
  };
  for (const InitialState& state : initialisation.states) expect(state.placement);
  for (const SchemeState& state : initialisation.schemes) expect(state.placement);
}

}  // namespace

Facts machine_facts() {
  Facts facts = {{"gradus", version()},
                 {"kernels", name(current_isa())},
                 {"matrix products", name(matmul_backend())},
                 {"OpenBLAS core", openblas_core()}};
  for (const auto& fact : kit::system_info()) facts.push_back(fact);
  return facts;
}

void write_config(const Path& folder, const Config& config) {
  Json json = json_of(config.options);
  json["task"] = json_of(config.task);
  for (const auto& [name, value] : config.machine) json["machine"][name] = value;
  kit::write_json(folder / "config.json", json);
}

Config read_config(const Path& folder) {
  kit::check_input(std::filesystem::exists(folder / "config.json"),
                   "{} is not the folder of a lab: it has no config.json", io::printable(folder.string()));
  return read_with(folder / "config.json", [](const Json& json) {
    Config config{options_from(json), task_from(json.at("task")), {}};
    for (const auto& [name, value] : json.at("machine").items())
      config.machine.emplace_back(name, value.get<std::string>());
    return config;
  });
}

void write_initialisation(const Path& folder, const Initialisation& initialisation) {
  const JacobianCheck& jacobian = initialisation.jacobian;
  Json json = {{"seconds", initialisation.seconds},
               {"layer_norm_jacobian",
                {{"max_error", jacobian.max_error},
                 {"wrong_mean_only", jacobian.wrong_mean_only},
                 {"wrong_constant_sigma", jacobian.wrong_constant_sigma}}},
               {"states", Json::array()}};
  for (const InitialState& state : initialisation.states)
    json["states"].push_back({{"placement", name_of(state.placement)},
                              {"layers", state.layers},
                              {"top_gradient", state.top_gradient},
                              {"top_gradient_std", state.top_gradient_std},
                              {"gradient", state.gradient},
                              {"activation_gradient", state.activation_gradient},
                              {"norm_squared", state.norm_squared},
                              {"weight_share", state.weight_share},
                              {"activation_share", state.activation_share}});
  json["schemes"] = json_of(initialisation.schemes);
  kit::write_json(folder / "initialisation.json", json);
}

Results read_results(const Path& folder, Steps written) {
  Results results{read_config(folder), std::nullopt, {}};
  if (const Path path = folder / "initialisation.json"; std::filesystem::exists(path))
    results.initialisation = read_with(path, [&](const Json& json) {
      Initialisation initialisation = initialisation_from(json);
      check_placements(initialisation, results.config.options.placements);
      return initialisation;
    });
  results.runs = read_runs(folder / "metrics.jsonl", plan_runs(results.config.options));
  for (const RunRecord& run : results.runs) {
    if (written == Steps::left_out) break;
    const std::int64_t steps = run.result.diverged_at.value_or(results.config.options.model.steps);
    kit::check_input(static_cast<std::int64_t>(run.losses.size()) == steps, "{}: {} expects {} steps, got {}",
                     io::printable((folder / "metrics.jsonl").string()), run.options.name(), steps,
                     run.losses.size());
  }
  return results;
}

}  // namespace gradus::lab
