#include "lab/program/options.h"

#include <doctest/doctest.h>

#include <set>

#include "lab/studies/compare/compare.h"

using namespace gradus;
using namespace gradus::lab;
using namespace gradus::lab::compare;

namespace {

/// Parses; the exit status, or -1 when the lab should go on.
int status_of(std::vector<const char*> words, Given& given) {
  words.insert(words.begin(), "lab");
  return parse_comparison(static_cast<int>(words.size()), words.data(), given).value_or(-1);
}

Given parsed(const std::vector<const char*>& words) {
  Given given;
  CHECK(status_of(words, given) == -1);
  return given;
}

}  // namespace

TEST_CASE("defaults have at least three seeds, and both placements, depths, rates and warm-ups") {
  for (const auto& words : {std::vector<const char*>{}, {"--quick"}}) {
    const Given given = parsed(words);
    const Settings options = settings_of(given.options);
    CHECK(options.seeds >= 3);
    CHECK(options.depths.size() >= 2);
    CHECK(options.lrs.size() >= 2);
    CHECK(options.warmups.size() >= 2);
    CHECK(options.warmups.front() == 0);
    CHECK(given.threads >= 1);
    CHECK(given.options.data.empty());
  }
  CHECK(plan_runs(settings_of(parsed({"--quick"}).options)).size() <
        plan_runs(settings_of(parsed({}).options)).size());
}

TEST_CASE("given options are used, each value once and in order") {
  const Given given =
      parsed({"--depths", "4,2,4", "--lrs", "0.01,0.001", "--warmups", "5", "--seeds", "2", "--seed", "7",
              "--threads", "3", "--steps", "12", "--text", "a.txt", "--out", "b"});
  const Settings options = settings_of(given.options);
  CHECK(options.depths == std::vector<std::int64_t>{2, 4});
  CHECK(options.lrs == std::vector<double>{0.001, 0.01});
  CHECK(options.warmups == std::vector<std::int64_t>{5});
  CHECK(options.seeds == 2);
  CHECK(options.seed == 7);
  CHECK(given.threads == 3);
  CHECK(options.steps == 12);
  CHECK(given.options.data == "a.txt");
  CHECK(given.out == "b");
}

TEST_CASE("bad arguments end with status 2") {
  for (const std::vector<const char*>& words : std::vector<std::vector<const char*>>{
           {"--depths", "0"},
           {"--depths", "2,,3"},
           {"--depths", "two"},
           {"--lrs", "0"},
           {"--lrs", "-0.1"},
           {"--lrs", "inf"},
           {"--lrs", "nan"},
           {"--warmups", "-1"},
           {"--seeds", "0"},
           {"--seed", "-1"},
           {"--threads", "0"},
           {"--steps", "0"},
           {"--threads", "4294967297"},
           {"--seeds", "4294967297"},
           {"--steps", "9223372036854775807"},
           {"--warmups", "0,9223372036854775807"},
           {"--depths", "4294967298"},
           {"--seed", "9223372036854775808"},
           {"--seeds", "1000", "--depths", "1,2,3,4,5,6,7,8,9", "--lrs", "1,2,3"},
           {"--text", ""},
           {"--no-such-thing"},
           {"words"},
           {"--quick", "--full"},
           {"--shard", "0/1"},
           {"--shard", "3/2"},
           {"--shard", "1/"},
           {"--shard", ""},
           {"--resume", "x", "--quick"},
           {"--resume", "x", "--placement", "peri"},
           {"--resume", "x", "--steps", "5"},
           {"--resume", "x", "--depths", "2"}}) {
    CAPTURE(words);
    Given given;
    CHECK(status_of(words, given) == 2);
  }
  Given given;
  CHECK(status_of({"--resume", "x", "--threads", "2", "--text", "moved.txt"}, given) == -1);
  CHECK(given.options.data == "moved.txt");
}

TEST_CASE("a study and a claim have one form") {
  for (const bool quick : {false, true}) {
    const std::vector<const char*> words = {"lab", quick ? "--standard" : "--quick", "--full"};
    Given given;
    CHECK(parse("lab rates", "Rates.", 2, words.data(), given, quick) == std::nullopt);
    CHECK(parse("lab rates", "Rates.", 3, words.data(), given, quick) == 2);
  }
}

TEST_CASE("the plan has every setting once, and the ablations at its middle") {
  const Settings options = settings_of(parsed({"--depths", "2,6,12", "--lrs", "0.001,0.003,0.01,0.03",
                                               "--warmups", "0,100", "--seeds", "3", "--seed", "5"})
                                           .options);
  const std::vector<RunOptions> plan = plan_runs(options);
  CHECK(plan.size() == 3 * 4 * 2 * 2 * 3 + 4 * 3);
  std::set<std::string> names;
  for (const RunOptions& run : plan) {
    names.insert(run.name());
    CHECK(run.seed >= 5);
    CHECK(run.seed <= 7);
  }
  CHECK(names.size() == plan.size());
  CHECK(names.contains("pre-L2-lr0.001-w0-s5"));
  CHECK(names.contains("post-L12-lr0.03-w100-s7"));
  CHECK(names.contains("pre-L6-lr0.003-w0-s6-nonorm"));
  CHECK(names.contains("post-L6-lr0.003-w0-s6-norm"));
  CHECK(names.contains("post-L6-lr0.003-w0-s6-scaled"));
}
