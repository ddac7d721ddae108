#pragma once
// What ./run bench times: one training step of several models, single ops, and the cost of tiny ops.

#include <functional>
#include <string>
#include <vector>

#include "gradus/nn/models/gpt.h"

namespace gradus::bench {

using Step = std::function<void()>;

struct Case {
  std::string name;
  std::string what;            // one line for people
  std::function<Step()> make;  // sets up once; the result is timed again and again
  int repeat = 1;              // runs inside one measurement, for steps shorter than the clock is sharp
};

std::vector<Case> model_cases();
std::vector<Case> transformer_cases();
std::vector<Case> op_cases();

/// GPT-2 small.
nn::GPTOptions gpt2_small();
/// A step of a GPT on `batch` random rows of `tokens`, with AdamW.
Step gpt_step(const nn::GPTOptions& options, std::int64_t batch, std::int64_t tokens);

/// All cases, in the order they are run.
std::vector<Case> all_cases();
std::vector<std::string> names_of_cases();
/// The one of that name; throws when there is none.
Case case_called(const std::string& name);

}  // namespace gradus::bench
