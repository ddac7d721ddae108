#pragma once
// A table of text.

#include <string>
#include <vector>

namespace gradus::kit {

struct Table {
  std::string caption{};
  std::vector<std::string> header{};
  std::vector<std::vector<std::string>> rows{};
};

}  // namespace gradus::kit
