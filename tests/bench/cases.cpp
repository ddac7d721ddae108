#include "bench/cases.h"

namespace gradus::bench {

std::vector<Case> all_cases() {
  std::vector<Case> cases = model_cases();
  for (Case& c : op_cases()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace gradus::bench
