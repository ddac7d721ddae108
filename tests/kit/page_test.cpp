// The code that docs/kit.md quotes, in addition to tests/consumer/kit.cpp.

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
  const kit::Vocabulary& vocabulary = text.vocabulary;
  nn::GPT gpt({.vocab = vocabulary.size(), .context = 32, .layers = 1, .block = {.d_model = 16, .heads = 2}});
  data::DataLoader loader(data::text_windows(text.train, 32), {.batch_size = 8, .shuffle = true});
  for (const auto& [ids, next] : loader) loss = gpt.loss(ids, next);
  const std::string sample = vocabulary.decode(gpt.generate(vocabulary.encode("ab"), /*count=*/10));
  // [/text]
  CHECK(std::isfinite(loss.item()));
  CHECK(sample.starts_with("ab"));
  CHECK(sample.size() == 12);
}

TEST_CASE("the page's code on charts") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "m.jsonl", svg = folder / "loss.svg";
  kit::RunLog log(path);
  for (int step = 1; step <= 3; ++step) log.write({{"step", step}, {"loss", 1.0 / step}});
  const Tensor logits = randn({9, 3}), labels = arange(3, i64).repeat({3});
  // [charts]
  const std::vector<double> losses = kit::read_run_log(path).column("loss");
  kit::plot(losses).save(svg);  // loss.svg, or loss.html: a page, with the numbers in a table
  std::cout << kit::plot(losses, {.title = "Loss", .x_label = "step", .y_axis = kit::AxisKind::log});
  const auto both = kit::plot({{"train", losses}, {"validation", /*x=*/{0, 2}, /*y=*/{0.9, 0.5}}});
  const auto bars = kit::bars({"Pre-LN", "Post-LN"}, {1.32, 1.41}, {.value_label = "nats"});
  const auto map = kit::heat_map(data::confusion_matrix(logits, labels, /*classes=*/3),
                                 {.x_label = "predicted", .y_label = "true"});
  // [/charts]
  CHECK(kit::read_file(svg).find("<svg") != std::string::npos);
  CHECK(kit::draw(both).find("validation") != std::string::npos);
  CHECK(kit::draw(bars).find("1.41") != std::string::npos);
  CHECK(kit::draw(map).find("predicted") != std::string::npos);
}

TEST_CASE("the page's code on images") {
  const test::ScratchFolder folder;
  const std::string png = (folder / "cat.png").string(), svg = (folder / "cats.svg").string();
  kit::image(rand({3, 4, 5})).save(png);
  // [images]
  const Tensor cat = kit::read_image(png);  // [3, H, W], or [1, H, W] if it is gray; also PPM and PGM
  const Tensor batch = stack({cat, 1 - cat});
  kit::image(batch, {.title = "A cat and its negative", .names = {"cat", "negative"}}).save(svg);
  kit::image(cat.mean(0), {.low = 0, .high = 1}).save(png);  // gray: [H, W]; a PNG has a pixel for each value
  // [/images]
  CHECK(kit::read_file(svg).find(">negative</text>") != std::string::npos);
  CHECK(kit::read_image(png).shape() == Shape{1, 4, 5});
}

TEST_CASE("the page's code on values that are logged occasionally") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "m.jsonl", svg = folder / "loss.svg";
  kit::RunLog log(path);
  const double loss = 1, held_out = 2;
  // [with]
  for (int step = 1; step <= 100; ++step) {
    kit::LogLine line = {{"step", step}, {"loss", loss}};
    if (step % 10 == 0) line.add("validation", held_out);
    log.write(line);
  }
  const kit::LogLines lines = kit::read_run_log(path), v = lines.with("validation");
  kit::plot({{"train", lines.column("step"), lines.column("loss")},
             {"validation", v.column("step"), v.column("validation")}})
      .save(svg);
  // [/with]
  CHECK(v.size() == 10);
  CHECK(kit::read_file(svg).find("validation") != std::string::npos);
}

TEST_CASE("the page's code on long trainings") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "run";
  const Tensor x = randn({64, 2}), y = x.sum(-1, true);
  for (const bool resume : {false, true}) {
    // [training]
    const nn::Sequential net(nn::Linear(2, 8), tanh, nn::Dropout(0.1), nn::Linear(8, 1));
    data::DataLoader loader({x, y}, {.batch_size = 16, .shuffle = true});
    optim::AdamW opt(net.parameters(), {.lr = optim::warmup_cosine(1e-2, 10, 100)});
    kit::TrainingRun run(
        {.steps = 100, .folder = path, .resume = resume});  // resume: a flag of the command line
    run.keep("model", net);
    run.keep("optimizer", opt);
    run.keep("loader", loader);
    run.train([&](std::int64_t) -> kit::StepResult {
      const auto [xb, yb] = loader.next();
      opt.zero_grad();
      const Tensor loss = mse_loss(net(xb), yb);
      loss.backward();
      opt.step();
      return {loss.item(), opt.lr()};
    });
    // [/training]
    CHECK(run.kept());
    CHECK(kit::read_training_log(path).size() == 100);
  }
}
