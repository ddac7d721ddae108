#pragma once
// An exercise grades rightly when every case fails on the stub and passes on the solution, and every mutant
// fails the cases that it names and no other.

#include <fmt/format.h>

#include <algorithm>

#include "learn/grading/grading.h"

namespace gradus::learn {

using Check = std::function<std::vector<std::string>(std::uint64_t seed)>;

void check_stub(const std::string& name, const Check& run);
void check_solution(const std::string& name, const Check& run);
void check_mutant(const std::string& mutant, const std::string& name, bool named, const Check& run);

template <class Answer>
void check_exercise(const std::string& forbidden, const Answer& stub, const Answer& solution) {
  REQUIRE_FALSE(cases<Answer>().empty());
  CHECK_FALSE(mutants<Answer>().empty());
  const auto check = [](const CaseFor<Answer>& one, const Answer& answer,
                        const std::string& not_allowed) -> Check {
    return [&](std::uint64_t seed) { return problems_of([&] { one.run(answer); }, not_allowed, seed); };
  };
  const std::string nothing;
  for (const CaseFor<Answer>& one : cases<Answer>()) {
    check_stub(one.name, check(one, stub, forbidden));
    check_solution(one.name, check(one, solution, forbidden));
    for (const MutantFor<Answer>& mutant : mutants<Answer>()) {
      const bool named = std::count(mutant.fails.begin(), mutant.fails.end(), one.name) > 0;
      check_mutant(mutant.name, one.name, named, check(one, mutant.answer, nothing));
    }
  }
  for (const MutantFor<Answer>& mutant : mutants<Answer>())
    for (const std::string& name : mutant.fails)
      CHECK_MESSAGE(std::count_if(cases<Answer>().begin(), cases<Answer>().end(),
                                  [&](const auto& one) { return one.name == name; }) == 1,
                    mutant.name, " names what is no case: ", name);
}

}  // namespace gradus::learn
