#include "lab/studies/start/start.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lab/study/records.h"
#include "made_results.h"
#include "near.h"

using namespace gradus;
using namespace gradus::lab;
using gradus::test::near;

TEST_CASE("products are the Jacobians of both placements, and the printed formulas are not") {
  const Measured right = start::measure_formulas("fan_in", 1000);
  for (const char* name : {"product.pre", "full.post"}) CHECK(right.numbers.at(name) < 1e-12);
  for (const char* name : {"chain.pre", "chain.post"}) CHECK(right.numbers.at(name) < 1e-7);
  for (const char* name : {"sum.pre", "product.post"}) CHECK(right.numbers.at(name) > 0.1);
  // GPT-2's 0.02 in 16 channels makes the sum right; scaled to its effect in 768 it does not.
  CHECK(start::measure_formulas("gpt2", 1000).numbers.at("sum.pre") < 1e-3);
  const Measured wide = start::measure_formulas("gpt2-768", 1000);
  CHECK(wide.numbers.at("sum.pre") > 0.01);
  CHECK(wide.numbers.at("product.pre") < 1e-12);
  CHECK(right.numbers.at("below") == 0);
  for (const char* name : {"formula.pre", "formula.post"}) {
    CHECK(right.numbers.at(name) > 0.05);
    CHECK(right.numbers.at(name) < 1);  // norms of products are at most products of norms
  }
}

TEST_CASE("stacks before training: sizes of Lemma 2, one stack without shortcuts") {
  const Measured pre = start::measure_stack("pre", "xiong", 32, 1000),
                 post = start::measure_stack("post", "xiong", 32, 1000),
                 cut = start::measure_stack("none-cut", "fan_in", 8, 1000);
  CHECK(pre.numbers.at("size.last") > 17);
  CHECK(pre.numbers.at("size.last") < 60);
  CHECK(post.numbers.at("size.last") == near(1.5, 0.4));
  CHECK(post.numbers.at("direct") == 1);  // there is no norm at the end
  CHECK(pre.numbers.at("direct") < 0.3);
  CHECK(pre.numbers.at("size.half") == pre.series.at("sizes").at(15));  // of 32 blocks
  CHECK(pre.numbers.at("size.first") == pre.series.at("sizes").front());
  // The gradient at the bottom is compared with the loss's: two weak blocks change nothing, the final norm
  // does.
  const double arrives = start::measure_stack("pre", "gpt2", 2, 1000).numbers.at("arrives");
  CHECK(arrives > 0.9);
  CHECK(arrives < 0.99);  // of 64 directions the norm takes two: sqrt(62 / 64) is 0.984
  CHECK(cut.numbers.at("activation") < 0.5);
  CHECK(pre.series.at("gradients").size() == 32);
  CHECK(pre.series.at("gradients").back() == 1);
  // A mean over positions is another loss; without attention's scores and with the norm it is of that size.
  CHECK(pre.numbers.at("mean.top") > 0);
  CHECK(pre.numbers.at("mean.top") < pre.numbers.at("top"));
  CHECK(post.numbers.at("mean.spread.linear1") != post.numbers.at("spread.linear1"));
  CHECK_FALSE(cut.numbers.contains("mean.top"));
  CHECK(start::measure_stack("post", "xiong", 32, 1000).numbers == post.numbers);
  CHECK_THROWS(start::placement_of("middle"));
}

TEST_CASE("a norm removes the scale of its input, and large branches do not change the length") {
  const Measured read = start::measure_information(1000);
  CHECK(read.numbers.at("norm.branch") < 0.1);
  CHECK(read.numbers.at("norm.input") > 0.8);
  CHECK(read.numbers.at("direction.branch") > 0.9);
  const Measured scaled = start::measure_scaled(1000);
  CHECK(scaled.numbers.at("output.post") == near(1, 0.01));
  CHECK(scaled.numbers.at("output.pre") == near(1, 0.01));
}

TEST_CASE("a training that ends before the measured step has no numbers for it") {
  const Measured short_one = start::measure_trained("post", 1000, 1);  // which also counts its blocks
  CHECK(std::isnan(short_one.numbers.at("share")));
  CHECK(short_one.numbers.at("stream") == near(1, 0.01));  // after a norm
  CHECK(short_one.series.at("streams").size() == 1);
  // Means are over the first kEarly steps, whatever comes after: 11 looks of 13.
  const Measured longer = start::measure_trained("pre", 1000, start::kEarly + 20);
  const std::vector<double>& streams = longer.series.at("streams");
  REQUIRE(streams.size() == 13);
  double sum = 0;
  for (std::size_t i = 0; i < 11; ++i) sum += streams[i] / 11;
  CHECK(longer.numbers.at("stream") == near(sum));
}

TEST_CASE("Pre-LN's norms keep the sizes of inputs while the stream grows") {
  const Measured regulated = start::measure_regulated(1000, 2);
  const std::vector<double>& stream = regulated.series.at("streams.start");
  CHECK(stream.size() == 24);
  CHECK(regulated.numbers.at("growth.start") == near(stream.back() / stream.front()));
  CHECK(regulated.numbers.at("growth.start") > 2);
  CHECK(regulated.numbers.at("normed.start") < 0.01);
  CHECK(regulated.numbers.at("normed.end") < 0.01);
  // At the start gains are 1 and biases 0: the input is the normalised stream.
  CHECK(std::abs(regulated.numbers.at("input.start")) < 0.01);
  CHECK(regulated.series.at("inputs.start").front() == near(1, 0.01));
  CHECK(regulated.numbers.at("share.start") < 0);  // what a sublayer adds does not grow like the stream
  CHECK(regulated.series.at("streams.end") != stream);
  CHECK_NOTHROW(line_of("regulated-s1", {regulated, 1}));  // a record has each name once
}

namespace {

Measured made_start(const std::string& run) {
  Measured made;
  if (run.starts_with("formulas"))
    for (const char* name : {"sum.pre", "product.pre", "product.post", "full.post", "chain.pre", "chain.post",
                             "below", "formula.pre", "formula.post"})
      made.numbers[name] = 0.5;
  else if (run.starts_with("information"))
    for (const char* from : {"input", "branch", "pre", "pre-normed", "post"})
      made.numbers[std::string("norm.") + from] = made.numbers[std::string("direction.") + from] = 0.25;
  else if (run.starts_with("scaled"))
    for (const char* placement : {"pre", "post"})
      for (const char* what : {"output.", "gradient.", "output.input."})
        made.numbers[std::string(what) + placement] = 1;
  else if (run.starts_with("trained"))
    made = {
        .numbers = {{"share", 0.5}, {"spread", 1}, {"loss", 2}, {"stream", 2}, {"branch", 3}, {"output", 4}},
        .series = {{"streams", {1, 2}}, {"branches", {1, 2}}, {"outputs", {1, 2}}}};
  else if (run.starts_with("regulated"))
    for (const std::string when : {".start", ".end"}) {
      made.numbers.merge(std::map<std::string, double>{
          {"growth" + when, 8}, {"normed" + when, 1e-4}, {"input" + when, 0.05}, {"share" + when, -1}});
      made.numbers["loss"] = run == "regulated-s275" ? 9 : 0.95;  // one has failed
      for (const std::string size : {"streams", "inputs", "shares"}) made.series[size + when] = {1, 2};
    }
  else
    made = {.numbers = {{"top", 2},
                        {"mean.top", run.starts_with("pre") ? 1 : 3},
                        {"share", 0.5},
                        {"mean.share", 0.25},
                        {"cosine", 0.1},
                        {"direct", 0.2},
                        {"arrives", 0.3}},
            .series = {{"sizes", {1, 2}}, {"cosines", {1, 2}}, {"gradients", {1, 2}}}};
  for (const char* matrix : {"in_proj", "out_proj", "linear1", "linear2"})
    made.numbers[std::string("spread.") + matrix] = made.numbers[std::string("mean.spread.") + matrix] = 1;
  made.numbers["spread.linear2"] = run.starts_with("pre") ? 4 : 2;
  if (run.find("gpt2") != std::string::npos) made.numbers["spread.linear2"] = 1;
  made.numbers["activation"] = run.find("-cut-") == std::string::npos ? 0.1 : 0.001;
  made.numbers["size.first"] = 2;
  made.numbers["size.half"] = 4;
  made.numbers["size.last"] = 8;
  return made;
}

}  // namespace

TEST_CASE("the study of the start: the computation of its figures") {
  made::check_study("start", made_start);
  const Study& study = study_named("start");
  const Figures figures = study.figures(made::made_results(study, Budget::full, made_start));
  CHECK(figures.at("exponential.pre.start").front() == near(1));  // it doubles, then doubles
  CHECK(figures.at("growth.post.start").front() == 4);
  CHECK(figures.at("spread.gpt2").front() == 0);
  CHECK(figures.at("spread.xiong").front() == 0.5);  // one of four matrices differs, by 2
  CHECK(figures.at("spread.ffn").front() == 1);      // one of two
  CHECK(figures.at("spread.ffn.mean").front() == 0);
  CHECK(figures.at("top.ratio").front() == 0);
  CHECK(figures.at("top.ratio.mean").front() == near(std::log10(3.0)));
  CHECK(figures.at("level.none").front() == near(1));
  CHECK(figures.at("slope.xiong").front() == near(std::log(0.5) / (15.5 * std::log(2.0 / 3))));
  CHECK(figures.at("slope.trained").front() == near(std::log(0.5) / (5.5 * std::log(2.0 / 3))));
  CHECK(figures.at("decay.xiong").front() == doctest::Approx(0));  // the same share at every depth
  CHECK(figures.at("shortcut.pre").front() == near(2));
  CHECK(figures.at("top.post").front() == doctest::Approx(0));
  CHECK(figures.at("smaller.stream").front() == 1);
  // The end of a run that failed is not that of a trained model; its start counts.
  CHECK(figures.at("regulates.growth.start").size() == 10);
  for (const char* what : {"growth", "normed", "input", "share"})
    CHECK(figures.at(std::string("regulates.") + what + ".end").size() == 9);
  CHECK(figures.at("regulates.share.end").front() == -1);
  CHECK(figures.objections.empty());
}

TEST_CASE("the decay of gradients is a slope per block, from 8 layers on") {
  const Study& study = study_named("start");
  const auto layers = [](const std::string& run) { return std::stod(run.substr(run.find("-L") + 2)); };
  const StudyResults results = made::made_results(study, Budget::full, [&](const std::string& run) {
    Measured made = made_start(run);
    if (!run.starts_with("post-") || run.starts_with("post-cut-") || layers(run) < start::kDecayFrom)
      return made;
    const double rate = run.find("-xiong-") == std::string::npos ? 0.01 : 0.02;
    made.numbers["share"] = 3 * std::exp(-rate * layers(run));
    made.numbers["mean.share"] = std::exp(rate * layers(run));
    return made;
  });
  const Figures figures = study.figures(results);
  for (const double decay : figures.at("decay.xiong")) CHECK(decay == near(-0.02));
  CHECK(figures.at("decay.xiong").size() == 30);
  CHECK(figures.at("decay.fan_in").front() == near(-0.01));
  CHECK(figures.at("decay.xiong.mean").front() == near(0.02));
  CHECK(figures.at("decay-share.xiong").front() == near(-0.02 / (0.5 * std::log(2.0 / 3))));
  Page page{kit::HtmlReport(study.title, study.question)};
  study.report(page, results);
  CHECK(page.html.html().find("By depth, with Xiong et al.") != std::string::npos);
}
