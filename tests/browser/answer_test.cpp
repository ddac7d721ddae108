#include "browser/answer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "browser/ask.h"
#include "browser/session.h"

using gradus::test::ask;
using gradus::test::error_of;
using Json = nlohmann::json;

TEST_CASE("answer: a run from the first request to the verdict") {
  const Json facts = ask(R"({"do": "facts"})");
  CHECK(facts["placements"][0]["name"] == "Pre-LN");
  CHECK(facts["starts"][0]["name"] == "fan_in");
  CHECK(facts["settings"]["layers"] == 6);
  CHECK(facts["entropy"] == doctest::Approx(0.918).epsilon(0.01));
  CHECK(facts["baseline"]["words"] == "the 3-gram baseline");

  const Json begun =
      ask(R"({"do": "begin", "settings": {"placements": ["pre", "peri"], "layers": 2, "steps": 5}})");
  CHECK(begun["settings"]["placements"] == Json({"Pre-LN", "Peri-LN"}));
  CHECK(begun["settings"]["rate"] == 3e-3);
  CHECK(begun["models"][1]["placement"] == "Peri-LN");
  CHECK(begun["models"][0]["parameters"].get<int>() < begun["models"][1]["parameters"].get<int>());
  CHECK(ask(R"({"do": "verdict"})")["verdict"].get<std::string>().starts_with("No setting has finished"));

  const Json two = ask(R"({"do": "step", "count": 2})");
  REQUIRE(two["steps"].size() == 2);
  CHECK(two["done"] == false);
  CHECK(two["steps"][1][0]["step"] == 2);
  CHECK(two["steps"][1][1]["stream"].size() == 2);
  const Json rest = ask(R"({"do": "step", "count": 20})");
  CHECK(rest["steps"].size() == 3);
  CHECK(rest["done"] == true);
  CHECK(ask(R"({"do": "step"})")["steps"].empty());

  const Json end = ask(R"({"do": "verdict"})");
  CHECK(end["seeds"] == 1);
  CHECK(end["verdict"].get<std::string>().starts_with("One seed shows no spread to judge by: Pre-LN"));
  CHECK(end["models"][0]["final_loss"].get<double>() < begun["models"][0]["start_loss"].get<double>());
  CHECK(ask(R"({"do": "csv"})")["csv"].get<std::string>().starts_with("placement,layers,"));
}

TEST_CASE("answer: losses are the session's") {
  gradus::browser::Session session({.layers = 1, .steps = 2});
  ask(R"({"do": "begin", "settings": {"layers": 1, "steps": 2}})");
  const Json steps = ask(R"({"do": "step", "count": 2})")["steps"];
  for (const Json& both : steps) {
    const auto now = session.step();
    for (const std::size_t i : {0, 1}) CHECK(both[i]["loss"].get<double>() == now[i]->loss);
  }
}

TEST_CASE("answer: bad requests are answered with what is expected") {
  CHECK(error_of("nonsense") == "the request is not JSON");
  CHECK(error_of("[1]") == "a request is an object, got [1]");
  CHECK(error_of("{}") == "do: expects a name, got null");
  CHECK(error_of(R"({"do": "dance"})") ==
        "do: expects facts, begin, step, verdict, csv, trace, rates, layer_norm, tapes, tape, streams, adam, "
        "heads, attention, blocks, got dance");
  CHECK(error_of(R"({"do": "begin", "settings": 3})") == "settings: expects an object, got 3");
  CHECK(error_of(R"({"do": "begin", "settings": {"depth": 3}})") == "settings: there is none called depth");
  CHECK(error_of(R"({"do": "begin", "settings": {"layers": 2.5}})") ==
        "layers: expects a whole number, got 2.5");
  CHECK(error_of(R"({"do": "begin", "settings": {"rate": "fast"}})") ==
        "rate: expects a number, got \"fast\"");
  CHECK(error_of(R"({"do": "begin", "settings": {"placements": ["pre"]}})") ==
        "placements: expects two names, got [\"pre\"]");
  CHECK(error_of(R"({"do": "begin", "settings": {"layers": 99}})") ==
        "layers: expects a whole number from 1 to 48, got 99");
}

TEST_CASE("answer: a refused begin leaves the present session as it is") {
  ask(R"({"do": "begin", "settings": {"layers": 1, "steps": 4}})");
  ask(R"({"do": "step", "count": 2})");
  const Json csv = ask(R"({"do": "csv"})");
  for (const char* settings :
       {R"({"placements": ["pre", "pre"]})", R"({"layers": 99})", R"({"rate": "fast"})", "3"}) {
    CAPTURE(settings);
    CHECK(error_of(std::string(R"({"do": "begin", "settings": )") + settings + "}") != "");
    CHECK(ask(R"({"do": "csv"})") == csv);
  }
  CHECK(ask(R"({"do": "step"})")["steps"][0][0]["step"] == 3);
}

TEST_CASE("answer: a step says which model has diverged, and where") {
  ask(R"({"do": "begin", "settings": {"layers": 2, "steps": 30, "rate": 1}})");
  const Json answer = ask(R"({"do": "step", "count": 30})");
  CHECK(answer["done"] == true);
  const Json end = ask(R"({"do": "verdict"})");
  for (const std::size_t i : {0, 1}) {
    CHECK(answer["diverged"][i].is_number());
    CHECK(answer["diverged"][i] == end["models"][i]["diverged_at"]);
  }
  ask(R"({"do": "begin", "settings": {"layers": 1, "steps": 1}})");
  CHECK(ask(R"({"do": "step"})")["diverged"] == Json::array({nullptr, nullptr}));
}

TEST_CASE("answer: layer norm of a token and its gradient") {
  const Json one = ask(R"({"do": "layer_norm", "x": [1, 2, 6], "dy": [1, 0, 0]})");
  const double deviation = std::sqrt(14.0 / 3);
  CHECK(one["mean"] == doctest::Approx(3));
  CHECK(one["deviation"] == doctest::Approx(deviation));
  const std::vector<double> y = one["y"], dx = one["dx"];
  const double centered[] = {-2, -1, 3};
  for (const std::size_t i : {0, 1, 2}) {
    CHECK(y[i] == doctest::Approx(centered[i] / deviation).epsilon(1e-4));
    const double dy = i == 0;  // row 0 of (I - 1/d - y y^T / d) / deviation
    CHECK(dx[i] == doctest::Approx((dy - 1.0 / 3 - y[0] * y[i] / 3) / deviation).epsilon(1e-4));
  }
  CHECK(error_of(R"({"do": "layer_norm", "x": [1], "dy": [1]})") ==
        "layer_norm: x expects 2 to 64 numbers, got [1]");
  CHECK(error_of(R"({"do": "layer_norm", "x": [1, 2], "dy": [1, 2, 3]})") ==
        "layer_norm: x and dy expect equally many numbers, got 2 and 3");
}
