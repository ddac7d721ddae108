#include "docs/draw/claims_page.h"

#include <doctest/doctest.h>

#include "docs/draw/lab_figures.h"
#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "lab/studies/studies.h"
#include "support.h"

namespace {

/// The runs of a study's folder, as they are recorded.
std::vector<std::string> runs_in(const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  for (const auto& [run, record] : gradus::lab::read_folder(folder, gradus::lab::study_named).results.records)
    lines.push_back(gradus::lab::line_of(run, record).json());
  return lines;
}

/// Records the committed study `compare` after a change of its files; the error, or nothing.
std::string record_compare(const gradus::test::ScratchFolder& folder, const std::string& budget,
                           std::size_t runs_left_out) {
  namespace kit = gradus::kit;
  const std::filesystem::path committed = gradus::docs::read_lab().path, from = folder / "from" / "compare";
  kit::make_folder(from);
  std::string study = kit::read_file(committed / "study.json"),
              runs = kit::read_file(committed / "runs.jsonl");
  const std::string standard = "\"standard\"";
  study.replace(study.find(standard), standard.size(), "\"" + budget + "\"");
  for (std::size_t i = 0; i < runs_left_out; ++i) runs.resize(runs.rfind('\n', runs.size() - 2) + 1);
  kit::replace_file(from / "study.json", study);
  kit::replace_file(from / "runs.jsonl", runs);
  try {
    gradus::docs::record_studies(folder / "from", folder / "to");
  } catch (const gradus::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE(
    "the comparison is recorded in the form without options: the committed record can be recorded again") {
  const gradus::test::ScratchFolder folder;
  CHECK(record_compare(folder, "standard", 0) == "");
  const std::filesystem::path committed = gradus::docs::read_lab().path, again = folder / "to" / "compare";
  CHECK(gradus::kit::read_file(again / "study.json") == gradus::kit::read_file(committed / "study.json"));
  CHECK(runs_in(again) == runs_in(committed));
}

TEST_CASE("another form of the comparison, or an unfinished one, is not recorded") {
  const gradus::test::ScratchFolder folder;
  const std::string form =
      "compare is recorded in its standard form, run without options; expects all of its runs, ";
  CHECK(record_compare(folder, "full", 0).ends_with(form + "got 334 of 334 of the full form"));
  CHECK(record_compare(folder, "standard", 2).ends_with(form + "got 332 of 334 of the standard form"));
  CHECK_FALSE(std::filesystem::exists(folder / "to"));
}
