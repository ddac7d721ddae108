// The code that docs/kit.md quotes, beside tests/consumer/kit.cpp.

#include <doctest/doctest.h>

#include <iostream>

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
  const std::vector<double> losses = kit::read_run_log(path).column("loss");
  kit::plot(losses).save(svg);  // loss.svg, or loss.html: a page, with the numbers in a table
  std::cout << kit::plot(losses, {.title = "Loss", .x_label = "step", .y_axis = kit::AxisKind::log});
  const auto both = kit::plot({{"train", losses}, {"validation", /*x=*/{0, 2}, /*y=*/{0.9, 0.5}}});
  const auto bars = kit::bars({"Pre-LN", "Post-LN"}, {1.32, 1.41}, {.value_label = "nats"});
  const auto map = kit::heat_map(softmax(randn({4, 4}), -1), {.title = "Attention", .low_is_good = false});
  // [/charts]
  CHECK(kit::read_file(svg).find("<svg") != std::string::npos);
  CHECK(kit::draw(both).find("validation") != std::string::npos);
  CHECK(kit::draw(bars).find("1.41") != std::string::npos);
  CHECK(kit::draw(map).find("Attention") != std::string::npos);
}
