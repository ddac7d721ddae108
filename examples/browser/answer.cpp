#include "browser/answer.h"

#include <optional>

#include "browser/figures/answers.h"
#include "browser/figures/placement.h"
#include "browser/request.h"
#include "browser/session.h"
#include "gradus/core/check.h"
#include "gradus/gradus.h"

namespace gradus::browser {

namespace {

struct State {
  std::optional<Session> session;
  Record record;
};

State& state() {
  static State one;
  return one;
}

Session& present() {
  check(state().session.has_value(), "there is no session yet: begin one");
  return *state().session;
}

// --- settings

Settings settings_from(const Json& json) {
  check(json.is_object(), "settings: expects an object, got {}", json.dump());
  Settings settings;
  for (const auto& [key, value] : json.items()) {
    if (key == "placements") {
      check(value.is_array() && value.size() == 2, "placements: expects two names, got {}", value.dump());
      settings.placements = {word(value[0], "placements"), word(value[1], "placements")};
    } else if (key == "layers") {
      settings.layers = whole(value, "layers");
    } else if (key == "rate") {
      settings.rate = number(value, "rate");
    } else if (key == "warmup") {
      settings.warmup = whole(value, "warm-up");
    } else if (key == "decay") {
      settings.decay = word(value, "decay");
    } else if (key == "start") {
      settings.start = word(value, "initial weights");
    } else if (key == "seed") {
      settings.seed = whole(value, "seed");
    } else if (key == "steps") {
      settings.steps = whole(value, "steps");
    } else {
      fail_with("settings: there is none called {}", key);
    }
  }
  return settings;
}

Json json_of(const Settings& settings) {
  Json json = {{"placements", settings.placements},
               {"layers", settings.layers},
               {"rate", settings.rate},
               {"warmup", settings.warmup},
               {"start", settings.start},
               {"seed", settings.seed},
               {"steps", settings.steps}};
  if (settings.decay != "none") json["decay"] = settings.decay;  // the lab's page has no field for it
  return json;
}

// --- answers

Json answer_facts() {
  Json starts = Json::array();
  for (const lab::WeightScheme& scheme : start_names())
    starts.push_back({{"name", scheme.name}, {"title", scheme.title}});
  Json placements = Json::array();
  for (const nn::Placement& placement : nn::placements())
    placements.push_back({{"name", placement.name}, {"equation", placement.equation}});
  Json decay_names = Json::array();
  for (const Decay& one : decays()) decay_names.push_back({{"name", one.name}, {"title", one.title}});
  return {{"placements", placements},
          {"starts", starts},
          {"decays", decay_names},
          {"settings", json_of({})},
          {"entropy", facts().entropy.value()},
          {"baseline", {{"loss", baseline().loss}, {"words", baseline().label()}}}};
}

Json answer_begin(const Json& request) {
  const Settings settings = checked(settings_from(request.value("settings", Json::object())));
  state().session.reset();  // frees its memory first
  Session& session = state().session.emplace(settings);
  Json models = Json::array();
  for (const Model& model : session.models())
    models.push_back({{"placement", model.placement()},
                      {"parameters", model.parameters()},
                      {"start_loss", model.start_loss()}});
  return {{"settings", json_of(session.settings())}, {"models", models}};
}

Json json_of(const ModelStep& at) {
  return {{"step", at.step},         {"loss", at.loss},     {"rate", at.rate},
          {"gradient", at.gradient}, {"stream", at.stream}, {"gradients", at.gradients}};
}

Json answer_step(const Json& request) {
  const std::int64_t count = whole(request.value("count", Json(1)), "count");
  Session& session = present();
  Json steps = Json::array();
  for (std::int64_t i = 0; i < count && !session.done(); ++i) {
    Json both = Json::array();
    for (const ModelStep* const at : session.step()) both.push_back(at ? json_of(*at) : Json());
    steps.push_back(std::move(both));
  }
  if (session.done() && !steps.empty()) state().record.add(session);
  Json diverged = Json::array();
  for (const Model& model : session.models())
    diverged.push_back(model.diverged() ? Json(std::ssize(model.steps())) : Json());
  return {{"steps", steps}, {"diverged", diverged}, {"done", session.done()}};
}

Json answer_verdict() {
  const Settings& settings = present().settings();
  Json models = Json::array();
  if (const auto* const runs = state().record.runs(settings))
    for (const lab::compare::RunRecord& run : *runs) {
      Json diverged, loss;
      if (run.diverged_at) diverged = *run.diverged_at;
      if (run.final_loss) loss = *run.final_loss;
      models.push_back(
          {{"placement", run.options.placement.name}, {"final_loss", loss}, {"diverged_at", diverged}});
    }
  return {{"verdict", state().record.verdict(settings)},
          {"seeds", state().record.seeds(settings)},
          {"models", models}};
}

Json answer_to(const Json& request) {
  check(request.is_object(), "a request is an object, got {}", request.dump());
  const std::string what = word(request.value("do", Json()), "do");
  if (what == "facts") return answer_facts();
  if (what == "begin") return answer_begin(request);
  if (what == "step") return answer_step(request);
  if (what == "verdict") return answer_verdict();
  if (what == "csv") return {{"csv", present().csv()}};
  if (what == "trace") return answer_trace(present());
  if (what == "rates") return {{"rates", rates(settings_from(request.value("settings", Json::object())))}};
  if (const std::optional<Json> figure = answer_figure(what, request)) return *figure;
  fail_with("do: expects facts, begin, step, verdict, csv, trace, rates, {}, got {}", figure_requests(),
            what);
}

}  // namespace

std::string answer(const std::string& request) {
  const auto dump = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  try {
    const Json json = Json::parse(request, nullptr, false);
    check(!json.is_discarded(), "the request is not JSON");
    return dump(answer_to(json));
  } catch (const std::exception& error) {
    return dump({{"error", error.what()}});
  }
}

}  // namespace gradus::browser
