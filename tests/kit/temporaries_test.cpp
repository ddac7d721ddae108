// What a temporary gives is a value: a reference into it would dangle.

#include <doctest/doctest.h>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "gradus/kit/chart/plot.h"
#include "gradus/kit/data/csv.h"
#include "gradus/kit/data/run_log.h"

using namespace gradus;

static_assert(std::same_as<decltype(std::declval<kit::Csv>().columns()), std::vector<std::string>>);
static_assert(std::same_as<decltype(std::declval<kit::Values>().numbers()), std::vector<double>>);
static_assert(std::same_as<decltype(std::declval<kit::LogLines>()[0]), kit::LogLine>);
static_assert(std::same_as<decltype(std::declval<kit::LogLine>()["a"]), kit::LogValue>);
static_assert(std::same_as<decltype(std::declval<const kit::LogLine&>()["a"]), const kit::LogValue&>);

TEST_CASE("a temporary line of a log gives values that stay") {
  const std::string text = "a text too long to be held inside of a string";
  const auto lines = [&] {
    kit::LogLines made;
    made.add({{"note", text}, {"losses", std::vector<double>{1, 2}}});
    return made;
  };
  const std::string& note = lines()[0]["note"].text();
  const std::vector<double>& losses = lines()[0]["losses"].list();
  const std::vector<kit::LogLines> others(100, lines());  // where these were
  CHECK(note == text);
  CHECK(losses == std::vector<double>{1, 2});
  std::string names;
  for (const auto& [name, value] : lines()[0]) names += name + (value.is_list() ? "[] " : " ");
  CHECK(names == "note losses[] ");
  double sum = 0;
  for (const double loss : lines()[0]["losses"].list()) sum += loss;
  CHECK(sum == 3);
}
