#include "browser/figures/answers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "browser/figures/adam.h"
#include "browser/figures/attention.h"
#include "browser/figures/placement.h"
#include "browser/figures/tape.h"
#include "gradus/gradus.h"

namespace gradus::browser {

namespace {

// --- layer norm

/// A token or a gradient: 2 to 64 values.
Tensor vector_from(const Json& request, const char* name) {
  const Json values = request.value(name, Json());
  const bool numeric = values.is_array() &&
                       std::all_of(values.begin(), values.end(), [](const Json& v) { return v.is_number(); });
  check(numeric && values.size() >= 2 && values.size() <= 64,
        "layer_norm: {} expects 2 to 64 numbers, got {}", name, values.dump());
  return from_vector(values.get<std::vector<double>>(), {static_cast<std::int64_t>(values.size())});
}

Json answer_layer_norm(const Json& request) {
  const Tensor x = vector_from(request, "x").requires_grad_(), dy = vector_from(request, "dy");
  check(x.shape() == dy.shape(), "layer_norm: x and dy expect equally many numbers, got {} and {}", x.numel(),
        dy.numel());
  const Tensor y = layer_norm(x);
  y.backward(dy);
  const double mean = x.detach().mean().item();
  return {{"y", y.to_vector<double>()},
          {"dx", x.grad().to_vector<double>()},
          {"mean", mean},
          {"deviation", std::sqrt((x.detach() - mean).square().mean().item())}};
}

// --- the tape

Json answer_tapes(const Json&) {
  Json all = Json::array();
  for (const Expression& one : expressions())
    all.push_back({{"name", one.name}, {"title", one.title}, {"inputs", one.inputs}, {"values", one.values}});
  return {{"expressions", all}};
}

Json json_of(const TapeVisit& visit) {
  Json handed = Json::array();
  for (const Handed& one : visit.handed)
    handed.push_back({{"to", one.to}, {"part", one.part}, {"total", one.total}});
  return {{"note", visit.note}, {"gradient", visit.gradient}, {"handed", handed}};
}

Json answer_tape(const Json& request) {
  const TapeRun run = run_tape(word(request.value("expression", Json()), "expression"),
                               numbers(request.value("values", Json()), "values"));
  Json notes = Json::array(), visits = Json::array();
  for (const TapeNote& note : run.notes)
    notes.push_back({{"name", note.name},
                     {"code", note.code},
                     {"op", note.op},
                     {"inputs", note.inputs},
                     {"value", note.value}});
  for (const TapeVisit& visit : run.visits) visits.push_back(json_of(visit));
  return {{"notes", notes}, {"visits", visits}};
}

// --- Adam's first steps

Json answer_streams(const Json&) {
  Json all = Json::array();
  for (const GradientStream& one : gradient_streams())
    all.push_back({{"name", one.name}, {"title", one.title}});
  return {{"streams", all}};
}

Json json_of(const Path& path) { return {{"taken", path.taken}, {"weight", path.weight}}; }

Json answer_adam(const Json& request) {
  AdamSettings settings;
  const auto at = [&](const char* name, auto& setting) {
    const Json value = request.value(name, Json(setting));
    if constexpr (std::is_same_v<decltype(setting), std::string&>)
      setting = word(value, name);
    else if constexpr (std::is_same_v<decltype(setting), std::int64_t&>)
      setting = whole(value, name);
    else
      setting = number(value, name);
  };
  at("stream", settings.stream), at("size", settings.size), at("rate", settings.rate);
  at("beta1", settings.beta1), at("beta2", settings.beta2), at("eps", settings.eps);
  at("warmup", settings.warmup), at("seed", settings.seed);
  const FirstSteps steps = first_steps(settings);
  return {{"gradients", steps.gradients}, {"rates", steps.rates}, {"adam", json_of(steps.adam)},
          {"sgd", json_of(steps.sgd)},    {"mean", steps.mean},   {"root", steps.root}};
}

// --- attention

Json answer_heads(const Json&) {
  Json all = Json::array();
  for (const HeadRule& one : head_rules())
    all.push_back({{"name", one.name}, {"title", one.title}, {"words", one.words}});
  return {{"heads", all}};
}

Json answer_attention(const Json& request) {
  HeadSettings settings;
  const Json letters = request.value("letters", Json());
  check(letters.is_array(), "letters: expects a list of letters, got {}", letters.dump());
  for (const Json& letter : letters) settings.letters.push_back(word(letter, "letters"));
  settings.rule = word(request.value("rule", Json(settings.rule)), "rule");
  settings.causal = yes_or_no(request.value("causal", Json(true)), "causal");
  settings.scaled = yes_or_no(request.value("scaled", Json(true)), "scaled");
  settings.over_queries = yes_or_no(request.value("over_queries", Json(false)), "over_queries");
  settings.seed = whole(request.value("seed", Json(0)), "seed");
  const Head head = attend(settings);
  return {{"weights", head.weights}, {"sums", head.sums}, {"future", head.future}, {"change", head.change}};
}

using Answer = Json (*)(const Json& request);
constexpr std::pair<const char*, Answer> kAnswers[] = {
    {"layer_norm", answer_layer_norm}, {"tapes", answer_tapes},  {"tape", answer_tape},
    {"streams", answer_streams},       {"adam", answer_adam},    {"heads", answer_heads},
    {"attention", answer_attention},   {"blocks", answer_blocks}};

}  // namespace

std::optional<Json> answer_figure(const std::string& what, const Json& request) {
  for (const auto& [name, answer] : kAnswers)
    if (what == name) return answer(request);
  return std::nullopt;
}

std::string figure_requests() {
  std::string names;
  for (const auto& [name, answer] : kAnswers) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace gradus::browser
