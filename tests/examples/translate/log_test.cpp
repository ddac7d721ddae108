#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "gradus/gradus.h"
#include "gradus/kit/chart/plot.h"
#include "gradus/kit/program/training_run.h"
#include "support.h"
#include "toy.h"
#include "translate/training.h"

namespace gradus::translate {

TEST_CASE("translate: the log of a run has a line for each validation, as the page says") {
  const test::ScratchFolder folder;
  Options o = toy_options();
  o.steps = 300, o.lr = 2e-2, o.evaluate_every = 100, o.run = folder / "run";
  const Corpus corpus = toy_corpus(200, 1);
  const Translator translator = toy_translator(corpus, o);
  train(translator, corpus, toy_corpus(20, 2), o);
  const std::string run = o.run.string(), svg = folder / "bleu.svg";
  // [chart]
  const kit::LogLines seen = kit::read_training_log(run).with("bleu");
  kit::plot(seen.column("minutes"), seen.column("bleu"), {.x_label = "minutes", .y_label = "BLEU"}).save(svg);
  // [/chart]
  CHECK(seen.column("step") == std::vector<double>{100, 200, 300});
  const std::vector<double> minutes = seen.column("minutes"), cpu = seen.column("cpu_seconds");
  CHECK(minutes[0] > 0);
  CHECK(minutes[0] <= minutes[2]);
  CHECK(cpu[0] <= cpu[2]);
  for (const double loss : seen.column("validation")) CHECK(std::isfinite(loss));

  // The last three weights were kept; the model is their mean or the last one, whichever validates better.
  const StateDict kept = load_checkpoint(run).tensors;
  CHECK(!kept.contains("average.3.embedding.weight"));
  const Pairs pairs = tokenized(*translator.tokenizer, toy_corpus(20, 2), o.longest);
  const auto loss_with = [&](const StateDict& weights) {
    translator.model.load_state_dict(weights);
    return loss_over(translator.model, pairs, o.tokens);
  };
  const double chosen = loss_over(translator.model, pairs, o.tokens);
  const double own = loss_with(kept.with_prefix_removed("model."));
  const double mean = loss_with(
      optim::average({kept.with_prefix_removed("average.0."), kept.with_prefix_removed("average.1."),
                      kept.with_prefix_removed("average.2.")}));
  CHECK(own != mean);
  CHECK(chosen == std::min(own, mean));
}

}  // namespace gradus::translate
