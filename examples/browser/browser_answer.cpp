// Requests to the session behind the page, one a line, answered one a line: what a worker would be told.
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
