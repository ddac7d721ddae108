// The facts that a study records before its first run.
#include <doctest/doctest.h>

#include "gradus/kit/data/files.h"
#include "lab/program/study_page.h"
#include "lab/studies/studies.h"
#include "lab/study/arithmetic.h"
#include "lab/study/records.h"
#include "support.h"

using namespace gradus;
using namespace gradus::lab;

// Files of a folder are compiled together: helpers have a namespace of their own.
namespace bands_test {

namespace {

/// The page of a study that began with these bands.
std::string page_with(const std::string& bands) {
  const test::ScratchFolder folder;
  StudyConfig config{.study = "best", .options = {}, .shard = {}, .machine = {{"gradus", "1"}}};
  config.bands_sha256 = bands;
  write_study(folder.path(), config);
  CHECK(read_study(folder.path()).bands_sha256 == bands);
  write_study_page({read_folder(folder.path(), study_named), {}});
  return kit::read_file(folder / "report.html");
}

}  // namespace

TEST_CASE("the page of a study says whether its bands and predictions have changed since it began") {
  for (const int version : {1, 2})
    CHECK(page_with(bands_sha256(claims(), "best", version)).find("recorded before the first run") !=
          std::string::npos);
  CHECK(page_with("0").find("have been changed since the first run") != std::string::npos);
  const std::string unknown = page_with("");
  CHECK(unknown.find("recorded before the first run") == std::string::npos);
  CHECK(unknown.find("have been changed") == std::string::npos);
  CHECK(page_with("2:0").find("have been changed since the first run") != std::string::npos);
  CHECK(bands_sha256(claims(), "best") != bands_sha256(claims(), "rates"));
}

TEST_CASE("the bands of best are those with which its runs began") {
  CHECK(bands_sha256(claims(), "best", 1) ==
        "f7a7dc49def910c94546a2933bcb337498fa35d0b0504a244833b5b14d85adc7");  // as in its study.json
}

TEST_CASE("the fingerprint of a study begun now covers all that its verdicts depend on, and no number") {
  const Measure a{.id = "a", .where = "", .what = "x", .low = 0, .high = 1},
      b{.id = "b", .where = "", .what = "x"};
  const auto claim = [](int number, std::vector<Measure> measures) {
    return Claim{.number = number, .text = "x", .source = "y", .study = "z", .measures = std::move(measures)};
  };
  const std::vector<Claim> begun = {claim(1, {a}), claim(2, {b})};
  const std::string one = bands_sha256(begun, "z", 1), two = bands_sha256(begun, "z");
  CHECK(two.starts_with("2:"));
  std::vector<Claim> changed = begun;
  changed[0].all_needed = true;
  CHECK(bands_sha256(changed, "z") != two);
  CHECK(bands_sha256(changed, "z", 1) == one);  // which does not cover it
  changed = begun, changed[1].disputed = true;
  CHECK(bands_sha256(changed, "z") != two);
  const std::vector<Claim> joined = {claim(1, {a, b})}, renumbered = {claim(7, {b}), claim(5, {a})};
  CHECK(bands_sha256(joined, "z") != two);
  CHECK(bands_sha256(joined, "z", 1) == one);
  CHECK(bands_sha256(renumbered, "z") == two);
  changed = begun, changed[0].measures[0].high = 2;
  CHECK(bands_sha256(changed, "z") != two);
  CHECK(bands_sha256(changed, "z", 1) != one);
  changed = begun, changed[0].measures[0].prediction = Judgement::holds;
  CHECK(bands_sha256(changed, "z") != two);
}

TEST_CASE("a study continues if the arithmetic is the same, whatever the version") {
  const Facts begun = {{"gradus", "1"}, {"arithmetic", "a"}, {"kernels", "avx2"}};
  CHECK(other_machine(begun, {{"gradus", "2"}, {"arithmetic", "a"}, {"kernels", "avx2"}}).empty());
  CHECK(other_machine(begun, {{"gradus", "1"}, {"arithmetic", "b"}, {"kernels", "avx2"}}) == "arithmetic a");
  CHECK(other_machine(begun, {{"gradus", "1"}, {"arithmetic", "a"}, {"kernels", "avx512"}}) ==
        "kernels avx2");
  CHECK(other_machine({{"gradus", "1"}}, {{"gradus", "2"}, {"arithmetic", "a"}}) ==
        "gradus 1");  // an older folder
  CHECK(other_machine({{"gradus", "2"}, {"arithmetic", "a"}}, {{"gradus", "1"}}) == "gradus 2");
  CHECK(arithmetic().size() == 16);
  CHECK(arithmetic() == arithmetic());
}

}  // namespace bands_test
