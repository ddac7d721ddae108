#pragma once
// One attention head on a short text, with weights constructed by a rule, for a figure.
//
//   const Head head = attend({.letters = {"a", "b", "a"}, .rule = "same", .causal = true});
//   head.weights[2];  // of the last letter: {0.50, 0.01, 0.50}

#include <cstdint>
#include <string>
#include <vector>

namespace gradus::browser {

struct HeadSettings {
  std::vector<std::string> letters;  // 1 to 24
  std::string rule = "same";         // a name of head_rules()
  bool causal = true;
  bool scaled = true;         // scores by 1 / sqrt(D)
  bool over_queries = false;  // softmax over the wrong axis
  std::int64_t seed = 0;      // of random weights, 0 to 999
};

struct HeadRule {
  std::string name, title;
  std::string words;  // description of the weights
};
std::vector<HeadRule> head_rules();

struct Head {
  std::vector<std::vector<double>> weights;  // [query][key]
  std::vector<double> sums;                  // of each row
  std::vector<double> future;                // each row's weight on later keys
  // The largest change in each row's output when the last letter is replaced. 0 in all rows but the last:
  // nothing leaks.
  std::vector<double> change;
};

/// Throws on a setting out of range.
Head attend(const HeadSettings& settings);

}  // namespace gradus::browser
