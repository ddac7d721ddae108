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
  CHECK(page_with(bands_sha256("best")).find("recorded before the first run") != std::string::npos);
  CHECK(page_with("0").find("have been changed since the first run") != std::string::npos);
  const std::string unknown = page_with("");
  CHECK(unknown.find("recorded before the first run") == std::string::npos);
  CHECK(unknown.find("have been changed") == std::string::npos);
  CHECK(bands_sha256("best") != bands_sha256("rates"));
}

TEST_CASE("a study continues if the arithmetic is the same, whatever the version") {
  const Facts begun = {{"gradus", "1"}, {"arithmetic", "a"}, {"kernels", "avx2"}};
  CHECK(other_machine(begun, {{"gradus", "2"}, {"arithmetic", "a"}, {"kernels", "avx2"}}).empty());
  CHECK(other_machine(begun, {{"gradus", "1"}, {"arithmetic", "b"}, {"kernels", "avx2"}}) == "arithmetic a");
  CHECK(other_machine(begun, {{"gradus", "1"}, {"arithmetic", "a"}, {"kernels", "avx512"}}) ==
        "kernels avx2");
  CHECK(other_machine({{"gradus", "1"}}, {{"gradus", "2"}, {"arithmetic", "a"}}) ==
        "gradus 1");  // an older folder
  CHECK(arithmetic().size() == 16);
  CHECK(arithmetic() == arithmetic());
}

}  // namespace bands_test
