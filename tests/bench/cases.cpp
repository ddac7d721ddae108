#include "bench/cases.h"

#include <stdexcept>

namespace gradus::bench {

std::vector<Case> all_cases() {
  std::vector<Case> cases = model_cases();
  for (Case& c : transformer_cases()) cases.push_back(std::move(c));
  for (Case& c : op_cases()) cases.push_back(std::move(c));
  return cases;
}

std::vector<std::string> names_of_cases() {
  std::vector<std::string> names;
  for (const Case& c : all_cases()) names.push_back(c.name);
  return names;
}

Case case_called(const std::string& name) {
  for (Case& c : all_cases())
    if (c.name == name) return std::move(c);
  throw std::invalid_argument("bench: no case is called " + name);
}

}  // namespace gradus::bench
