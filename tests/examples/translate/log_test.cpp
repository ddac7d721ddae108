#include <doctest/doctest.h>

#include <cmath>

#include "gradus/kit/chart/plot.h"
#include "gradus/kit/program/training_run.h"
#include "support.h"
#include "toy.h"
#include "translate/training.h"

using namespace gradus;
using namespace gradus::translate;

TEST_CASE("translate: the log of a run has a line for each validation, as the page says") {
  const test::ScratchFolder folder;
  Options o = toy_options();
  o.steps = 60, o.evaluate_every = 20, o.run = folder / "run";
  const Corpus corpus = toy_corpus(200, 1);
  train(toy_translator(corpus, o), corpus, toy_corpus(20, 2), o);
  const std::string run = o.run.string(), svg = folder / "bleu.svg";
  // [chart]
  const kit::LogLines seen = kit::read_training_log(run).with("bleu");
  kit::plot(seen.column("minutes"), seen.column("bleu"), {.x_label = "minutes", .y_label = "BLEU"}).save(svg);
  // [/chart]
  CHECK(seen.column("step") == std::vector<double>{20, 40, 60});
  const std::vector<double> minutes = seen.column("minutes"), cpu = seen.column("cpu_seconds");
  CHECK(minutes[0] > 0);
  CHECK(minutes[0] <= minutes[2]);
  CHECK(cpu[0] <= cpu[2]);
  for (const double loss : seen.column("validation")) CHECK(std::isfinite(loss));
}
