// The files of a study's folder.
#include "lab/study/records.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "gradus/core/error.h"
#include "lab/study/json_files.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace records_test {

namespace {

StudyConfig extended_twice() {
  return {.study = "rates",
          .options = {.budget = Budget::full,
                      .seed = 3000,
                      .data = "books/a b.txt",
                      .settings = {{"depths", {2, 4}}}},
          .shard = {2, 3},
          .machine = {{"gradus", "1"}, {"kernels", "avx2"}},
          .data_sha256 = "0f",
          .bands_sha256 = "2:a",
          .extensions = {
              {.after = 0, .machine = {{"gradus", "2"}}, .bands_sha256 = "2:b"},
              {.after = 12, .machine = {{"kernels", "avx512"}, {"gradus", "3"}}, .bands_sha256 = "2:c"}}};
}

}  // namespace

TEST_CASE("study.json: a study comes back as it was written, also one that was extended") {
  const test::ScratchFolder folder;
  const StudyConfig written = extended_twice();
  write_study(folder.path(), written);
  const StudyConfig read = read_study(folder.path());
  CHECK(read.study == "rates");
  CHECK(read.options.budget == Budget::full);
  CHECK(read.options.seed == 3000);
  CHECK(read.options.data == "books/a b.txt");
  CHECK(read.options.settings.dump() == R"({"depths":[2,4]})");
  CHECK(read.shard == Shard{2, 3});
  CHECK(read.machine == written.machine);
  CHECK(read.data_sha256 == "0f");
  CHECK(read.bands_sha256 == "2:a");
  REQUIRE(read.extensions.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(read.extensions[i].after == written.extensions[i].after);
    CHECK(read.extensions[i].machine == written.extensions[i].machine);
    CHECK(read.extensions[i].bands_sha256 == written.extensions[i].bands_sha256);
  }
  CHECK(read.current_machine() == written.extensions[1].machine);
  CHECK(read.current_bands() == "2:c");
}

TEST_CASE("study.json: what is not as the lab writes it is named") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "study.json").string();
  struct Wrong {
    const char *key, *value, *problem;
  };
  const Wrong all[] = {{"budget", R"("huge")", "budget expects quick, standard or full, got 'huge'"},
                       {"seed", "-1", "seed expects a whole number of at least 0"},
                       {"seed", "0.5", "seed expects a whole number of at least 0"},
                       {"shard", "[0, 3]", "shard expects I of N, got 0 of 3"},
                       {"shard", "[4, 3]", "shard expects I of N, got 4 of 3"},
                       {"shard", "[1, 100001]", "shard expects I of N, got 1 of 100001"},
                       {"shard", R"([1, "2"])", "shard expects two whole numbers"},
                       {"shard", "[1]", "shard expects two whole numbers"},
                       {"shard", "[1, 2, 3]", "shard expects two whole numbers"},
                       {"extensions", R"([{"after": -1}])", "after expects a whole number of at least 0"},
                       {"extensions", R"([{"after": 1.5}])", "after expects a whole number of at least 0"}};
  for (const Wrong& wrong : all) {
    CAPTURE(wrong.value);
    write_study(folder.path(), extended_twice());
    Json json = read_json(path);
    json[wrong.key] = Json::parse(wrong.value);
    write_json(path, json);
    CHECK_THROWS_WITH_AS(read_study(folder.path()),
                         (path + ": not as the lab writes it (" + wrong.problem + ")").c_str(), Error);
  }
  write_study(folder.path(), extended_twice());
  CHECK(read_study(folder.path()).shard == Shard{2, 3});
}

}  // namespace records_test
