// What the live figures show is what the library computes.

#include <doctest/doctest.h>

#include <cmath>

#include "browser/ask.h"
#include "browser/figures/adam.h"
#include "browser/figures/attention.h"
#include "browser/figures/tape.h"
#include "gradus/gradus.h"

using namespace gradus::browser;
using gradus::test::error_of;

namespace {

std::vector<double> gradient_of(const TapeRun& run, const std::string& name) {
  for (const TapeVisit& visit : run.visits)
    if (run.notes[visit.note].name == name) return visit.gradient;
  return {};
}

}  // namespace

TEST_CASE("figures: the tape is read from the newest note to the oldest, and parts add up") {
  for (const Expression& expression : expressions()) {
    CAPTURE(expression.name);
    const TapeRun run = run_tape(expression.name, expression.values);
    REQUIRE(run.visits.size() == run.notes.size());
    std::vector<std::vector<double>> gathered(run.notes.size());
    gathered.back() = {1};
    for (std::size_t i = 0; i < run.visits.size(); ++i) {
      const TapeVisit& visit = run.visits[i];
      CHECK(visit.note == run.notes.size() - 1 - i);
      CHECK(visit.handed.size() == run.notes[visit.note].inputs.size());
      // Complete when its turn comes: what the engine gave the hook is the sum of all that was handed on.
      REQUIRE(gathered[visit.note].size() == visit.gradient.size());
      for (std::size_t k = 0; k < visit.gradient.size(); ++k)
        CHECK(gathered[visit.note][k] == doctest::Approx(visit.gradient[k]));
      for (const Handed& handed : visit.handed) gathered[handed.to] = handed.total;
    }
  }
}

TEST_CASE("figures: a request leaves nothing of its tape behind") {
  const std::string requests[] = {R"({"do": "tape", "expression": "parts", "values": [3, -0.5, 1]})",
                                  R"({"do": "attention", "letters": ["a", "b", "a"]})", R"({"do": "adam"})",
                                  R"({"do": "layer_norm", "x": [1, 2, 4], "dy": [1, 0, 0]})"};
  for (const std::string& request : requests) {
    CAPTURE(request);
    CHECK(error_of(request) == "");
    const std::int64_t before = gradus::memory_stats().live_bytes;
    for (int i = 0; i < 100; ++i) answer(request);
    CHECK(gradus::memory_stats().live_bytes == before);
  }
}

TEST_CASE("figures: a value used twice gets both parts") {
  const TapeRun run = run_tape("twice", {3, 2});  // y = h h + h, h = w x = 6
  CHECK(run.notes[2].op == "mul");
  CHECK(run.notes[2].value == std::vector<double>{6});
  CHECK(run.notes[3].inputs == std::vector<std::size_t>{2, 2});
  CHECK(gradient_of(run, "h") == std::vector<double>{13});
  CHECK(gradient_of(run, "w") == std::vector<double>{26});
  CHECK(gradient_of(run, "x") == std::vector<double>{39});
}

TEST_CASE("figures: a neuron that is off hands nothing on") {
  CHECK(gradient_of(run_tape("neuron", {1.5, -0.5, 1, 2}), "w") == std::vector<double>{-2});
  CHECK(gradient_of(run_tape("neuron", {-1.5, -0.5, 1, 2}), "w") == std::vector<double>{0});
}

TEST_CASE("figures: layer norm in parts has the gradient of layer norm as one op") {
  const std::vector<double> x = {3, -0.5, 1};
  const std::vector<double> parts = gradient_of(run_tape("parts", x), "x"),
                            one = gradient_of(run_tape("norm", x), "x");
  for (const std::size_t i : {0, 1, 2}) CHECK(parts[i] == doctest::Approx(one[i]));
  CHECK(one[2] != doctest::Approx(0));
}

TEST_CASE("figures: Adam's first step has the length of the rate, whatever the gradient") {
  for (const GradientStream& stream : gradient_streams())
    for (const double size : {1e-3, 1.0, 1e3}) {
      CAPTURE(stream.name);
      const FirstSteps steps = first_steps({.stream = stream.name, .size = size});
      REQUIRE(steps.adam.taken.size() == 40);
      CHECK(std::abs(steps.adam.taken[0]) == doctest::Approx(1).epsilon(1e-4));
      CHECK(steps.sgd.taken[0] == doctest::Approx(steps.gradients[0]));
      // Every later step too is the one of the formula.
      for (std::size_t t = 0; t < 40; ++t)
        CHECK(steps.adam.taken[t] == doctest::Approx(steps.mean[t] / (steps.root[t] + 1e-8)).epsilon(1e-6));
    }
}

TEST_CASE("figures: warm-up, eps and the spike") {
  const FirstSteps warm = first_steps({.stream = "constant", .warmup = 20});
  CHECK(warm.adam.taken[0] == doctest::Approx(0.05));
  CHECK(warm.adam.taken[19] == doctest::Approx(1));
  CHECK(warm.rates[4] == doctest::Approx(0.25e-3));
  CHECK(first_steps({.stream = "constant", .size = 1e-8}).adam.taken[0] == doctest::Approx(0.5));
  const FirstSteps spike = first_steps({.stream = "spike"});
  CHECK(spike.gradients[9] == 50);
  CHECK(spike.adam.taken[39] < 0.2);
  CHECK(spike.sgd.taken[39] == doctest::Approx(1));
}

TEST_CASE("figures: heads look where their rules say") {
  const std::vector<std::string> text = {"a", "b", "a", "c"};
  const Head same = attend({.letters = text, .rule = "same"});
  CHECK(same.weights[2][0] == doctest::Approx(same.weights[2][2]));
  CHECK(same.weights[2][0] > 0.45);
  const double e = std::exp(36.0 / 8);
  CHECK(same.weights[2][1] == doctest::Approx(1 / (2 * e + 1)));
  const Head hard = attend({.letters = text, .rule = "same", .scaled = false});
  CHECK(hard.weights[2][1] == doctest::Approx(1 / (2 * std::exp(36.0) + 1)));
  CHECK(attend({.letters = text, .rule = "previous"}).weights[3][2] > 0.9);
  CHECK(attend({.letters = text, .rule = "next", .causal = false}).weights[1][2] > 0.9);
}

TEST_CASE("figures: rows sum to 1 and nothing leaks, but over queries") {
  const std::vector<std::string> text = {"a", "b", "a", "c", "a"};
  for (const HeadRule& rule : head_rules()) {
    CAPTURE(rule.name);
    const Head right = attend({.letters = text, .rule = rule.name});
    for (std::size_t t = 0; t < 5; ++t) {
      CHECK(right.sums[t] == doctest::Approx(1));
      CHECK(right.future[t] == 0);
      CHECK((right.change[t] > 0) == (t == 4));
    }
    const Head wrong = attend({.letters = text, .rule = rule.name, .over_queries = true});
    double column = 0, off = 0, leak = 0;
    for (std::size_t t = 0; t < 5; ++t) {
      column += wrong.weights[t][1];
      off += std::abs(wrong.sums[t] - 1);
      CHECK(wrong.future[t] == 0);  // hidden by the mask
      if (t < 4) leak += wrong.change[t];
    }
    CHECK(column == doctest::Approx(1));
    CHECK(off > 0.1);
    if (rule.name == "same" || rule.name == "random") CHECK(leak > 1e-3);  // and yet it is known
    const Head open = attend({.letters = text, .rule = rule.name, .causal = false});
    CHECK(open.future[0] + open.future[1] > 0);
  }
}

TEST_CASE("figures: bad requests are answered with what is expected") {
  CHECK(error_of(R"({"do": "tape", "expression": "cube", "values": []})") ==
        "tape: there is no expression called cube");
  CHECK(error_of(R"({"do": "tape", "expression": "twice", "values": [1]})") ==
        "tape: twice expects 2 values, got 1");
  CHECK(error_of(R"({"do": "tape", "expression": "twice", "values": [1, 1e9]})") ==
        "tape: expects values from -100 to 100, got 1000000000");
  CHECK(error_of(R"({"do": "tape", "expression": "twice", "values": [1, "x"]})") ==
        "values: expects a number, got \"x\"");
  CHECK(error_of(R"({"do": "adam", "stream": "tide"})") ==
        "adam: there is no stream of gradients called tide");
  CHECK(error_of(R"({"do": "adam", "rate": 2})") == "adam: rate expects a number above 0, at most 1, got 2");
  CHECK(error_of(R"({"do": "adam", "beta1": 1})").starts_with("Adam: "));
  CHECK(error_of(R"({"do": "attention", "letters": []})") == "attention: expects 1 to 24 letters, got 0");
  CHECK(error_of(R"({"do": "attention", "letters": ["a"], "rule": "bias"})") ==
        "attention: there is no rule called bias");
  CHECK(error_of(R"({"do": "attention", "letters": ["a"], "causal": 1})") ==
        "causal: expects true or false, got 1");
}
