// The code that docs/kit.md quotes, beside tests/consumer/kit.cpp.

#include <doctest/doctest.h>

#include <gradus/gradus.h>
#include <gradus/kit/kit.h>

#include "support.h"

using namespace gradus;

TEST_CASE("the page's code on tables and text") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "iris.csv", book = folder / "book.txt";
  kit::replace_file(path, "length;width;species\n5.1;3.5;setosa\n5.9;;virginica\n");
  kit::replace_file(book, std::string(200, 'a') + std::string(200, 'b'));
  const nn::Linear model(2, 2);
  // [tables]
  const kit::Csv iris = kit::read_csv(path, {.delimiter = ';', .missing = 0});
  const kit::Categories species = iris.categories("species");
  Tensor loss = cross_entropy(model(iris.tensor({"length", "width"})), species.ids);
  // [/tables]
  CHECK(std::isfinite(loss.item()));
  CHECK(species.names == std::vector<std::string>{"setosa", "virginica"});
  // [text]
  const kit::TextData text = kit::load_text(book, /*context=*/32);
  nn::GPT gpt(
      {.vocab = text.vocabulary.size(), .context = 32, .layers = 1, .block = {.d_model = 16, .heads = 2}});
  const auto [ids, next] = kit::random_windows(text.train, /*count=*/8, 32);
  loss = gpt.loss(ids, next);
  // [/text]
  CHECK(ids.shape() == Shape{8, 32});
  CHECK(std::isfinite(loss.item()));
}

TEST_CASE("the page's code on charts") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "m.jsonl", svg = folder / "loss.svg";
  kit::RunLog log(path);
  for (int step = 1; step <= 3; ++step) log.write({{"step", step}, {"loss", 1.0 / step}});
  // [charts]
  const kit::LogLines lines = kit::read_run_log(path);
  kit::LineChart chart{.title = "Loss", .x_label = "step", .y_label = "nats per character"};
  chart.series.push_back({.name = "Pre-LN", .x = lines.column("step"), .y = lines.column("loss")});
  kit::replace_file(svg, kit::svg_file(kit::draw(chart)));
  // [/charts]
  CHECK(kit::read_file(svg).find("Pre-LN") != std::string::npos);
}
