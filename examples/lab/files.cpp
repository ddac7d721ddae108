#include "lab/files.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "gradus/core/format.h"
#include "gradus/core/version.h"
#include "gradus/ops/kernels/blas.h"
#include "gradus/ops/kernels/kernels.h"
#include "kit/system_info.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

using kit::Json;
using Path = std::filesystem::path;

double number(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> numbers(const Json& values) {
  std::vector<double> result;
  for (const Json& value : values) result.push_back(number(value));
  return result;
}

/// Calls `read` on a file's JSON; a missing key or a wrong type becomes an error that names the file.
template <class F>
auto read_with(const Path& path, const F& read) {
  const Json json = kit::read_json(path);
  try {
    return read(json);
  } catch (const Json::exception& error) {
    fail_with("{}: not as the lab writes it ({})", path.string(), error.what());
  }
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
  task.vocabulary = json.at("vocabulary").get<std::int64_t>();
  task.context = json.at("context").get<std::int64_t>();
  if (json.at("entropy").is_number()) task.entropy = json.at("entropy").get<double>();
  task.context_free_loss = json.at("context_free_loss").get<double>();
  const Json& ngram = json.at("ngram");
  task.ngram = {ngram.at("n").get<int>(), ngram.at("loss").get<double>(), numbers(ngram.at("losses"))};
  task.sha256 = json.at("sha256").get<std::string>();
  return task;
}

Json json_of(const LabOptions& options) {
  const ModelOptions& model = options.model;
  const RecallOptions& recall = options.recall;
  const InitialisationOptions& start = options.initialisation;
  return {
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
}

template <class T>
void read_into(const Json& json, const char* key, T& value) {
  json.at(key).get_to(value);
}

LabOptions options_from(const Json& json) {
  LabOptions options;
  read_into(json, "quick", options.quick);
  options.text = json.at("text").get<std::string>();
  read_into(json, "seed", options.seed);
  read_into(json, "seeds", options.seeds);
  read_into(json, "threads", options.threads);
  read_into(json, "depths", options.depths);
  read_into(json, "lrs", options.lrs);
  read_into(json, "warmups", options.warmups);
  const Json &model = json.at("model"), &recall = json.at("recall"), &start = json.at("initialisation");
  read_into(model, "d_model", options.model.d_model);
  read_into(model, "heads", options.model.heads);
  read_into(model, "batch", options.model.batch);
  read_into(model, "steps", options.model.steps);
  read_into(recall, "boxes", options.recall.boxes);
  read_into(recall, "things", options.recall.things);
  read_into(recall, "length", options.recall.length);
  read_into(start, "depths", options.initialisation.depths);
  read_into(start, "d_model", options.initialisation.d_model);
  read_into(start, "positions", options.initialisation.positions);
  read_into(start, "classes", options.initialisation.classes);
  read_into(start, "seeds", options.initialisation.seeds);
  options.initialisation.seed = options.seed;
  return options;
}

Initialisation initialisation_from(const Json& json) {
  Initialisation result;
  result.seconds = json.at("seconds").get<double>();
  const Json& jacobian = json.at("layer_norm_jacobian");
  result.jacobian = {.max_error = number(jacobian.at("max_error")),
                     .wrong_mean_only = number(jacobian.at("wrong_mean_only")),
                     .wrong_constant_sigma = number(jacobian.at("wrong_constant_sigma"))};
  for (const Json& state : json.at("states"))
    result.states.push_back({.placement = placement_named(state.at("placement").get<std::string>()),
                             .layers = state.at("layers").get<std::int64_t>(),
                             .norm_squared = numbers(state.at("norm_squared")),
                             .gradient = numbers(state.at("gradient")),
                             .activation_gradient = numbers(state.at("activation_gradient")),
                             .top_gradient = number(state.at("top_gradient")),
                             .top_gradient_std = number(state.at("top_gradient_std"))});
  if (json.contains("schemes")) result.schemes = schemes_from(json.at("schemes"));
  return result;
}

}  // namespace

Facts machine_facts() {
  Facts facts = {
      {"gradus", version()}, {"kernels", name(current_isa())}, {"OpenBLAS core", blas::core_name()}};
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
  check(std::filesystem::exists(folder / "config.json"),
        "{} is not the folder of a lab: it has no config.json", folder.string());
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
                              {"norm_squared", state.norm_squared}});
  json["schemes"] = json_of(initialisation.schemes);
  kit::write_json(folder / "initialisation.json", json);
}

Results read_results(const Path& folder) {
  Results results{read_config(folder), std::nullopt, {}};
  if (const Path path = folder / "initialisation.json"; std::filesystem::exists(path))
    results.initialisation = read_with(path, initialisation_from);
  results.runs = read_runs(folder / "metrics.jsonl", plan_runs(results.config.options));
  return results;
}

}  // namespace gradus::lab
