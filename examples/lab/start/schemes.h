#pragma once
// Do gradients fade towards the first block of a stack that has not been trained? Asked for several initial
// weights, since the answer in one setting says nothing about another.
//
// Xiong et al.'s setting is that of initialisation.h. The others are blocks as they are commonly built: 4
// heads, an FFN four times as wide, ReLU, queries and keys drawn like the other weights, biases 0, gains 1.
// The loss is the cross-entropy at one position throughout.

#include <string>

#include "gradus/kit/data/detail/json_files.h"
#include "lab/analysis/statistics.h"
#include "lab/start/initialisation.h"

namespace gradus::lab {

enum class Scheme { xiong, fan_in, xavier, small, gpt2 };

/// "N(0, 1/fan_in)", for people.
std::string title_of(Scheme scheme);

/// |dL/dW2| of block l over that of the last block, l = 1..L: median, least and largest of the seeds.
struct SchemeState {
  Scheme scheme = Scheme::xiong;
  Placement placement;
  std::vector<double> median, low, high;
  std::int64_t layers() const { return static_cast<std::int64_t>(median.size()); }
};

struct SchemeOptions {
  std::int64_t layers = 32;
  std::int64_t d_model = 64;
  std::int64_t positions = 8;
  std::int64_t classes = 16;
  std::int64_t seeds = 10;
  std::uint64_t seed = 0;
  Placements placements = {Placement::pre, Placement::post};
};

/// Both placements for each scheme, with the same weights, seed by seed.
std::vector<SchemeState> measure_schemes(const SchemeOptions& options = {});

/// What norms alone would leave at the first of `layers` blocks (Xiong et al., appendix F): (2/3)^((L-1)/2).
double norms_alone(std::int64_t layers);

kit::Json json_of(const std::vector<SchemeState>& states);
/// Throws when it is not what json_of gives: two placements for each scheme, in order.
std::vector<SchemeState> schemes_from(const kit::Json& json);

}  // namespace gradus::lab
