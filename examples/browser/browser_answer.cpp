// Answers requests to the session behind the page, one per line, as the page's worker would.
//
//   echo '{"do": "begin", "settings": {"layers": 2}}' | browser_answer

#include <iostream>
#include <string>

#include "browser/answer.h"
#include "gradus/kit/program/program.h"

int main() {
  return gradus::kit::run_program("browser_answer", [] {
    std::string line;
    while (std::getline(std::cin, line)) gradus::kit::print(gradus::browser::answer(line) + "\n");
    return 0;
  });
}
