#pragma once
// The output of Progress, replaced in tests.

#include <functional>
#include <string_view>

namespace gradus::kit {

struct ProgressOutput {
  std::function<void(std::string_view)> write;
  std::function<double()> clock;  // seconds, never going back
  std::function<int()> width;     // columns of the terminal; 0 when it is not one
};

}  // namespace gradus::kit
