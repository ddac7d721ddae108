// The table of docs/placements.md is that of the library.

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "gradus/nn/placements/placements.h"
#include "support.h"

namespace gradus::test {

TEST_CASE("docs/placements.md has a row for every placement, with its equation, final norm and paper") {
  std::ifstream file(source_file("docs/placements.md"));
  std::stringstream page;
  page << file.rdbuf();
  for (const nn::Placement& p : nn::placements()) {
    const std::string norm = p.leave ? "its own " : p.final_norm ? "yes " : "";
    const std::string row = "()` | `" + p.equation + "` | " + norm + "| " + p.paper + " |\n";
    INFO(p.name, ": ", row);
    const std::size_t at = page.str().find("\n| " + p.name + ", `");
    REQUIRE(at != std::string::npos);
    const std::string line = page.str().substr(at + 1, page.str().find('\n', at + 1) - at);
    CHECK(line.ends_with(row));
  }
}

}  // namespace gradus::test
