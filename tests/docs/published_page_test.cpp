#include "docs/draw/published_page.h"

#include <doctest/doctest.h>

#include "lab/claims/ledger.h"
#include "lab/studies/studies.h"

using namespace gradus;

TEST_CASE("every claim of the study of papers is on the page of published findings") {
  const std::string page = gradus::docs::published_page({});
  for (const lab::Claim& claim : lab::claims())
    if (claim.study == "papers") {
      INFO(claim.number);
      CHECK(page.find("(claims.md#claim-" + std::to_string(claim.number) + ")") != std::string::npos);
      CHECK(!claim.paper.empty());
    }
}

TEST_CASE("the page of published findings has the ledger's figure and says whether the sign agrees") {
  lab::MeasuredStudy papers;
  papers.study = &lab::study_named("papers");
  papers.config.study = "papers";
  papers.figures["unselectable.centred"] = {0.1, 0.11, 0.12, 0.13, 0.14};
  papers.figures["unselectable.layer"] = {0, 0, 0, 0, 0.25};
  const std::string page = gradus::docs::published_page({papers});
  CHECK(page.find("with LayerNorm: 0.25 (exact)") != std::string::npos);
  CHECK(page.find("without the division: yes; with LayerNorm: no") != std::string::npos);
  CHECK(page.find("| not measured |") != std::string::npos);
  const std::string nothing = gradus::docs::published_page({});
  CHECK(nothing.find(": yes") == std::string::npos);
  CHECK(nothing.find("nan") == std::string::npos);
}
