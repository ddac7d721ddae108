#pragma once
// A table of text: `Table table{.caption = "Ends", .header = {"lr", "loss"}, .rows = {{"0.1", "2.3"}}};`

#include <string>
#include <vector>

namespace gradus::kit {

/// The header, or the end of a row, may be missing.
struct Table {
  std::string caption{};
  std::vector<std::string> header{};
  std::vector<std::vector<std::string>> rows{};
};

}  // namespace gradus::kit
