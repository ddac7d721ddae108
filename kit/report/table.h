#pragma once
// A table of text: `Table table{.caption = "Ends", .header = {"lr", "loss"}, .rows = {{"0.1", "2.3"}}};`

#include <string>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

/// The header, or the end of a row, may be missing.
struct Table {
  std::string caption{};                         // above the table
  std::vector<std::string> header{};             // names of the columns
  std::vector<std::vector<std::string>> rows{};  // texts of the cells, row by row
};

}  // namespace gradus::kit
