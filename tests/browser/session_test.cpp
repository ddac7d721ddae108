#include "browser/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "gradus/gradus.h"
#include "lab/studies/compare/analysis/verdict.h"
#include "lab/studies/compare/training.h"
#include "lab/training/weights.h"
#include "threads_guard.h"

using namespace gradus;
using namespace gradus::browser;

namespace {

Settings small(std::int64_t steps = 5) {
  return {.layers = 2, .rate = 0.01, .warmup = 3, .seed = 4, .steps = steps};
}

/// A training of the same model without session or trial, from the library alone.
std::vector<double> plain_losses(const nn::Placement& placement, std::int64_t steps) {
  const lab::Task task{lab::RecallOptions{}};
  nn::GPT gpt({.vocab = task.vocabulary().size(),
               .context = task.context(),
               .layers = 2,
               .placement = placement,
               .block = {.d_model = 32, .heads = 4},
               .residual_init_scaling = false});
  Generator weights(4, 0), data(4, 1);
  for (const auto& [name, w] : gpt.named_parameters()) {
    if (name.ends_with("bias"))
      nn::init::zeros_(w);
    else if (w.dim() >= 2)
      nn::init::normal_(w, 0, 1 / std::sqrt(static_cast<double>(w.size(-1))), weights);
  }
  optim::Adam adam(gpt.parameters(), {.lr = optim::warmup_linear(0.01, 3)});
  std::vector<double> losses;
  for (std::int64_t step = 0; step < steps; ++step) {
    const lab::Batch batch = task.batch(16, data);
    const Tensor loss = gpt.loss(batch.inputs, batch.targets);
    losses.push_back(loss.item());
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
  return losses;
}

std::vector<double> losses_of(const Model& model) {
  std::vector<double> losses;
  for (const ModelStep& at : model.steps()) losses.push_back(at.loss);
  return losses;
}

Session finished(const Settings& settings) {
  Session session(settings);
  while (!session.done()) session.step();
  return session;
}

}  // namespace

TEST_CASE("session: losses are those of a plain loop over the library") {
  const Session session = finished(small());
  CHECK(losses_of(session.models()[0]) == plain_losses(nn::pre_ln(), 5));
  CHECK(losses_of(session.models()[1]) == plain_losses(nn::post_ln(), 5));
}

TEST_CASE("session: both models see the same data and start with the same weights") {
  // ReZero's branches count nothing at the start: what is left is the embedding, the same in both orders.
  const Session one(Settings{.placements = {"ReZero", "Pre-LN"}, .layers = 1, .steps = 1});
  const Session other(Settings{.placements = {"Pre-LN", "ReZero"}, .layers = 1, .steps = 1});
  CHECK(one.models()[0].start_loss() == other.models()[1].start_loss());
  CHECK(one.models()[1].start_loss() == other.models()[0].start_loss());
  CHECK(one.models()[0].start_loss() != one.models()[1].start_loss());
}

TEST_CASE("session: the same bits again, with any number of threads") {
  const auto csv = [](int threads) {
    const test::ThreadsGuard guard(threads);
    return finished(small()).csv();
  };
  const std::string first = csv(1);
  CHECK(csv(1) == first);
  CHECK(csv(3) == first);
}

TEST_CASE("session: a step says how large stream and gradients are, block by block") {
  Session session(Settings{.layers = 3, .steps = 2});
  const auto now = session.step();
  for (const ModelStep* const at : now) {
    REQUIRE(at != nullptr);
    CHECK(at->step == 1);
    CHECK(at->rate == 3e-3);
    REQUIRE(at->stream.size() == 3);
    REQUIRE(at->gradients.size() == 3);
    double sum = 0;
    for (const double gradient : at->gradients) sum += gradient * gradient;
    CHECK(std::sqrt(sum) < at->gradient);  // embeddings have some too
    CHECK(std::sqrt(sum) > 0.1 * at->gradient);
  }
  for (const double rms : now[1]->stream) CHECK(rms == doctest::Approx(1).epsilon(0.01));  // a norm's output
  CHECK(now[0]->stream[0] < now[0]->stream[1]);
  CHECK(now[0]->stream[1] < now[0]->stream[2]);
}

TEST_CASE("session: warm-up is in the rate") {
  const Session session = finished(small(4));
  std::vector<double> rates;
  for (const ModelStep& at : session.models()[0].steps()) rates.push_back(at.rate);
  const std::vector<double> expected = {0.01 / 3, 0.02 / 3, 0.01, 0.01};
  REQUIRE(rates.size() == expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i)
    CHECK(rates[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

TEST_CASE("session: all placements and initial weights take a step") {
  for (const std::string& name : placement_names()) {
    if (name == "Pre-LN") continue;
    CAPTURE(name);
    Session session(Settings{.placements = {"Pre-LN", name}, .layers = 2, .steps = 1});
    const auto now = session.step();
    CHECK(now[1]->stream.size() == 2);
    CHECK(std::isfinite(now[1]->loss));
  }
  double before = 0;
  for (const lab::WeightScheme& scheme : start_names()) {
    CAPTURE(scheme.name);
    Session session(Settings{.layers = 2, .start = scheme.name, .steps = 1});
    const double loss = session.step()[0]->loss;
    CHECK(std::isfinite(loss));
    CHECK(loss != before);
    before = loss;
  }
}

TEST_CASE("session: what diverges ends, the other goes on") {
  Session session(Settings{.placements = {"Pre-LN", "no norm"}, .layers = 12, .rate = 1, .steps = 12});
  while (!session.done()) session.step();
  const auto& [pre, none] = session.models();
  CHECK(pre.steps().size() + none.steps().size() < 24);
  Record record;
  record.add(session);
  const auto* const runs = record.runs(session.settings());
  REQUIRE(runs != nullptr);
  for (const lab::compare::RunRecord& run : *runs) {
    CAPTURE(run.options.placement.name);
    CHECK(run.diverged_at.has_value() != run.final_loss.has_value());
    if (run.losses.size() < 12) CHECK(run.diverged_at == std::ssize(run.losses));
  }
}

TEST_CASE("session: settings that cannot be are refused with what is expected") {
  const auto refused = [](const Settings& settings, const char* words) {
    CAPTURE(words);
    CHECK_THROWS_WITH_AS(Session{settings}, doctest::Contains(words), Error);
  };
  refused({.placements = {"Pre-LN", "pre"}}, "Pre-LN cannot be compared with itself: choose two placements");
  refused({.placements = {"Pre-LN", "Prae"}}, "there is no placement 'Prae'; there are Pre-LN, Post-LN");
  refused({.layers = 0}, "layers: expects a whole number from 1 to 48, got 0");
  refused({.layers = 49}, "layers: expects a whole number from 1 to 48, got 49");
  refused({.rate = 0}, "rate: expects a number above 0, at most 1, got 0");
  refused({.rate = NAN}, "rate: expects a number above 0, at most 1, got nan");
  refused({.warmup = -1}, "warm-up: expects a whole number from 0 to 10000, got -1");
  refused({.start = "xiong"},
          "initial weights: there are fan_in, fan_in_scaled, xavier, small, gpt2, tfixup, got xiong");
  refused({.seed = 1000}, "seed: expects a whole number from 0 to 999, got 1000");
  refused({.steps = 0}, "steps: expects a whole number from 1 to 5000, got 0");
  Session done = finished({.layers = 1, .steps = 1});
  CHECK_THROWS_WITH_AS(done.step(), doctest::Contains("all steps are made; begin another"), Error);
}

TEST_CASE("session: the run as CSV") {
  const std::string csv = finished(Settings{.layers = 2, .steps = 3}).csv();
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  CHECK(line ==
        "placement,layers,start,warmup,seed,step,rate,loss,gradient,stream_1,stream_2,gradient_1,gradient_2");
  std::vector<std::string> rows;
  while (std::getline(lines, line)) rows.push_back(line);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].starts_with("Pre-LN,2,fan_in,0,0,1,0.003,"));
  CHECK(rows[5].starts_with("Post-LN,2,fan_in,0,0,3,0.003,"));
  for (const std::string& row : rows) CHECK(std::count(row.begin(), row.end(), ',') == 12);
}

TEST_CASE("record: a session is a seed of a lab") {
  Record record;
  const Settings settings{.layers = 1, .steps = 1};
  CHECK(record.verdict(settings) ==
        "No setting has finished with both placements, so nothing can be said about training yet.");
  const Session unfinished(settings);
  CHECK_THROWS_WITH_AS(record.add(unfinished), doctest::Contains("the session has steps left to make"),
                       Error);

  Settings seeded = settings;
  const auto run = [&](std::int64_t seed) {
    seeded.seed = seed;
    record.add(finished(seeded));
  };
  run(3);
  CHECK(record.seeds(settings) == 1);
  CHECK(record.verdict(settings) ==
        "One seed shows no spread to judge by: Pre-LN ended below the 3-gram baseline in 0 of 1 runs, "
        "Post-LN in 0.");
  run(3);  // again: instead
  CHECK(record.seeds(settings) == 1);
  run(7);
  CHECK(record.seeds(settings) == 2);
  const std::string two = record.verdict(settings);
  CHECK(two.starts_with(
      "No clear difference in reliability: Pre-LN ended below the 3-gram baseline in 0 of 2 runs"));
  CHECK(two.find("of 2 seeds") != std::string::npos);
  seeded.rate = 0.01;
  run(0);  // another lab
  CHECK(record.seeds(settings) == 2);
  CHECK(record.verdict(settings) == two);
}

TEST_CASE("record: the sentence is the lab's of the same runs") {
  // As the study trains them, options and all.
  const std::int64_t steps = 3;
  lab::compare::Results results;
  lab::compare::Settings& grid = results.settings;
  grid.depths = {1}, grid.lrs = {0.003}, grid.warmups = {0};
  grid.seeds = 3, grid.steps = steps;
  results.task = facts();
  Record record;
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    record.add(finished({.layers = 1, .seed = seed, .steps = steps}));
    for (const nn::Placement& placement : grid.placements) {
      const lab::compare::RunOptions run{
          .placement = placement, .layers = 1, .lr = 0.003, .seed = static_cast<std::uint64_t>(seed)};
      const lab::Measured measured = lab::compare::measure_training(lab::recall_task(), run, steps);
      const double loss = measured.numbers.at("final-loss");
      results.runs.push_back({.options = run,
                              .final_loss = loss,
                              .diverged_at = {},
                              .start_loss = measured.numbers.at("start-loss")});
      const auto* const runs = record.runs({.layers = 1, .seed = seed, .steps = steps});
      REQUIRE(runs != nullptr);
      CHECK((*runs)[placement == nn::pre_ln() ? 0 : 1].final_loss == loss);
    }
  }
  CHECK(record.verdict({.layers = 1, .steps = steps}) ==
        lab::compare::verdict_of(lab::compare::analyse(results), std::nullopt).sentence);
}
